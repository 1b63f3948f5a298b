#!/usr/bin/env python3
"""Runs a command on a terminal of its own, until the command has closed it.

    terminal.py [--size COLUMNSxROWS] [--resize TEXT COLUMNSxROWS] RECORD COMMAND...

RECORD receives all output as it was written. Standard output receives what is on the screen at the end, with the lines that have scrolled out
of it before: what a user sees. --resize changes the size of the terminal once TEXT was written; the lines of the screen are then
wrapped again, as tmux, VTE and kitty do. Unlike script(1), which may end before it has read the last output of its command."""
import argparse
import fcntl
import os
import pty
import re
import struct
import sys
import termios


class Screen:
    """Lines that wrap and scroll, the alternate screen, and the escape sequences that move the cursor and clear."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines, self.row, self.column = [""], 0, 0  # all lines, with those that have scrolled out
        self.top, self.wrapped, self.saved = 0, set(), None

    def down(self, wraps=False):
        if wraps:
            self.wrapped.add(self.row + 1)
        self.row += 1
        while len(self.lines) <= self.row:
            self.lines.append("")
        if self.row >= self.top + self.rows:
            self.top = self.row - self.rows + 1

    def put(self, character):
        if self.column == self.columns:
            self.down(wraps=True)
            self.column = 0
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + character + line[self.column + 1:]
        self.column += 1

    def escape(self, text):
        number, what = re.fullmatch(r"\x1b\[([?0-9;]*)([A-Za-z])", text).groups()
        if what == "A":
            self.row = max(self.top, self.row - int(number or 1))
        elif what == "H":
            self.row, self.column = self.top, 0
        elif what == "J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            del self.lines[self.row + 1:]
        elif what == "K":
            self.lines[self.row] = self.lines[self.row][:min(self.column, self.columns - 1)]
        elif (number, what) == ("?1049", "h") and not self.saved:
            self.saved = self.lines, self.row, self.column, self.top, self.wrapped
            self.lines, self.row, self.column, self.top, self.wrapped = [""], 0, 0, 0, set()
        elif (number, what) == ("?1049", "l") and self.saved:
            (self.lines, self.row, self.column, self.top, self.wrapped), self.saved = self.saved, None

    def write(self, text):
        for part in re.findall(r"\x1b\[[?0-9;]*[A-Za-z]|[^\x1b]", text):
            if part == "\n":
                self.down()
            elif part == "\r":
                self.column = 0
            elif part == "\b":
                self.column = max(0, self.column - 1)
            elif part[0] == "\x1b":
                self.escape(part)
            else:
                self.put(part)

    def resize(self, columns, rows):
        whole, cursor = [], 0
        for i, line in enumerate(self.lines):
            if i in self.wrapped and whole:
                whole[-1] += line
            else:
                whole.append(line)
            if i == self.row:
                cursor = len(whole) - 1
        self.columns, self.rows, self.lines, self.wrapped = columns, rows, [], set()
        for i, line in enumerate(whole):
            if i == cursor:
                self.row = len(self.lines)
            for start in range(0, max(len(line), 1), columns):
                if start:
                    self.wrapped.add(len(self.lines))
                self.lines.append(line[start:start + columns])
        self.column = min(self.column, columns)
        self.top = max(0, self.row - rows + 1)


def size_of(text):
    columns, rows = text.split("x")
    return int(columns), int(rows)


def login(slave):
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for number in 0, 1, 2:
        os.dup2(slave, number)
    if slave > 2:
        os.close(slave)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=size_of, default=(80, 24))
    parser.add_argument("--resize", nargs=2, metavar=("TEXT", "SIZE"))
    parser.add_argument("record")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    master, slave = pty.openpty()
    resize = lambda size: fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    resize(options.size)
    child = os.fork()
    if child == 0:
        os.close(master)
        login(slave)
        os.execvp(options.command[0], options.command)
    os.close(slave)  # so that the end of the output is noticed
    screen, text, pending = Screen(*options.size), "", b""
    with open(options.record, "wb", buffering=0) as record:
        while True:
            try:
                data = os.read(master, 1 << 16)
            except OSError:  # nobody has the terminal open
                break
            record.write(data)
            data = pending + data
            complete = re.match(rb"(?s).*(?=\x1b\[?[?0-9;]*$)|.*", data).group()  # without the beginning of an escape sequence
            while True:
                try:
                    more = complete.decode()
                    break
                except UnicodeDecodeError:  # a character of which bytes are missing
                    complete = complete[:-1]
            pending = data[len(complete):]
            screen.write(more)
            text += more
            if options.resize and options.resize[0] in text:
                size = size_of(options.resize[1])
                resize(size)
                screen.resize(*size)
                options.resize = None
    print("\n".join(screen.lines))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
