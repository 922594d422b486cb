"""Writes the table "Growth on every mesh" of docs/validation.md.

python docs/validation/growth_table.py FOLDER, which has growth_1.txt and so on of the tests GrowthAtMeshRatio.
"""

import sys
from collections import defaultdict
from pathlib import Path


def cell(word, error):
    text = f"{100 * error:+.1f}" if abs(error) < 10 else f"{100 * error:+.0f}"
    return {"false": f"~~{text}~~", "smoothed": f"*{text}*"}.get(word, text)


def main(folder):
    rows = defaultdict(lambda: defaultdict(list))
    ratios = ["1", "1.5", "2", "3", "4"]
    for ratio in ratios:
        for line in (Path(folder) / f"growth_{ratio}.txt").read_text().splitlines():
            if line.startswith("#"):
                continue
            kernel, _, softening, word, small, _ = line.split()
            rows[softening, kernel][ratio].append(cell(word, float(small)))
    print("| softening | kernel | " + " | ".join(ratios) + " |")
    print("| --- " * (2 + len(ratios)) + "|")
    for (softening, kernel), places in rows.items():
        print(f"| `{softening}` | `{kernel}` | " + " | ".join(" ".join(places[r]) for r in ratios) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
