from http_old import fetch


def item(number):
    return fetch("/items", number)
