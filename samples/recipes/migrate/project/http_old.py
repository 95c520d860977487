def fetch(path, number):
    return f"{path}/{number}"
