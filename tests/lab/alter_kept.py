"""Changes a field of the first row of a file of kept results, and its checksum: alter_kept.py FILE COLUMN VALUE"""
import csv
import io
import sys

path, name, value = sys.argv[1:]
with open(path, encoding="utf-8", newline="") as file:
    rows = list(csv.reader(file))
rows[1][rows[0].index(name)] = value
text = io.StringIO()
csv.writer(text, lineterminator="").writerow(rows[1][:-1])
checksum = 0xCBF29CE484222325  # FNV-1a
for byte in text.getvalue().encode():
    checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
rows[1][-1] = f"{checksum:016x}"
with open(path, "w", encoding="utf-8", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows(rows)
