from http_old import fetch


def order(number):
    return fetch("/orders", number)
