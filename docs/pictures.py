"""Redraw the pictures of README.md from what `./run_all.sh` made, light and dark:  python docs/pictures.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.colors import hsv_to_rgb, rgb_to_hsv
from matplotlib.image import imread, imsave

ROOT = Path(__file__).resolve().parent.parent
TO = ROOT / "figures" / "readme"
PICTURES = {
    "experience": "iclr-2020/2019-11-08/04-experience/experience.png",
    "sixes": "iclr/05-years/sixes.png",
    "agreement": "iclr/06-agreement/agreement-years.png",
    "movement": "iclr-2020/08-movement/averages.png",
}
DARKEST = 0.07  # the ground of a dark page is not quite black


def dark(picture: np.ndarray) -> np.ndarray:
    """A picture with light and dark exchanged and its hues kept: white ground becomes nearly black, ink nearly white."""
    turned = DARKEST + (1 - DARKEST) * (1 - picture[..., :3])
    hsv, hue = rgb_to_hsv(turned), rgb_to_hsv(picture[..., :3])
    hsv[..., 0] = hue[..., 0]
    return hsv_to_rgb(hsv)


def main() -> None:
    for name, source in PICTURES.items():
        picture = imread(ROOT / "figures" / source)[..., :3]
        imsave(TO / f"{name}.png", picture, metadata={"Software": None})
        imsave(TO / f"{name}-dark.png", dark(picture), metadata={"Software": None})


if __name__ == "__main__":
    main()
