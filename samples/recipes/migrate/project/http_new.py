def get(path, *, number):
    return f"{path}/{number}"
