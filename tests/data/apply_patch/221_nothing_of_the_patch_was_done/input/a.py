def one():
    return 1

def two(x):
    return 2
