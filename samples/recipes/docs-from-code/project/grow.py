import argparse

parser = argparse.ArgumentParser(description="Grows a tree.")
parser.add_argument("--height", type=int, default=3, help="of the tree, in rows")
parser.add_argument("--leaf", default="*", help="what it is made of")
if __name__ == "__main__":
    given = parser.parse_args()
    for row in range(given.height):
        print(" " * (given.height - row - 1) + given.leaf * (2 * row + 1))
