"""What the architecture checks share: the files of the project and their rooms."""
import os
import re
import subprocess

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
SOURCE = (".c", ".h", ".def")


def files(root):
    """Tracked files and new ones that are not ignored; all files outside of git."""
    try:
        # safe.directory: the tree may belong to another user, as in a container
        out = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z",
             "--cached", "--others", "--exclude-standard"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        names = [n for n in out.decode().split("\0") if n]
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, folders, entries in os.walk(root):
            folders[:] = [f for f in folders if f != ".git" and not f.startswith("build")]
            names += [os.path.relpath(os.path.join(folder, e), root) for e in entries]
    return sorted({n for n in names if os.path.isfile(os.path.join(root, n))})


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as text:
        return text.read()


def includes(text):
    """(is_system, name) of each #include line."""
    return [(kind == "<", name) for kind, name in INCLUDE.findall(text)]


def public_headers(names):
    return [n for n in names if re.match(r"[a-z_]+/include/.*\.h$", n)]
