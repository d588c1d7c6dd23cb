"""Looks at pictures.

image.py pixel RESULT X Y      size, format and one pixel of a tool's result
image.py same RESULT FILE      how many pixels differ from a picture file
"""
import base64
import io
import json
import sys

from PIL import Image, ImageChops


def of_result(path):
    with open(path, encoding="utf-8") as file:
        item = json.load(file)["content"][0]
    image = Image.open(io.BytesIO(base64.b64decode(item["data"], validate=True)))
    if item["mimeType"] != "image/" + image.format.lower():
        sys.exit("the type %s is not the image's" % item["mimeType"])
    return image


def main():
    image = of_result(sys.argv[2])
    if sys.argv[1] == "pixel":
        pixel = image.convert("RGB").getpixel((int(sys.argv[3]), int(sys.argv[4])))
        print("%dx%d %s %d,%d,%d" % (image.size + (image.format,) + pixel))
    else:
        other = Image.open(sys.argv[3]).convert("RGB")
        if other.size != image.size:
            sys.exit("sizes differ: %s, %s" % (image.size, other.size))
        gray = ImageChops.difference(image.convert("RGB"), other).convert("L")
        colours = len(image.convert("RGB").getcolors(1 << 24))
        print("%d differ, %d colours" % (sum(gray.histogram()[1:]), colours))


main()
