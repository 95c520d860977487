from http_old import fetch


def user(number):
    return fetch("/users", number)
