# A file system for power-cut.ts. It separates synced from unsynced data, and loses the latter on command. It is in
# memory and follows POSIX strictly:
# - fsync of a file saves its bytes, its length and its mode, but not its name;
# - a new name, a rename and a removal are saved by fsync of their folder; each is saved completely or not at all.
# With `names: journal` it is like ext4 and similar ones, where any fsync also saves all earlier names.
#
# python3 power-cut.py '<JSON of the options>'. Commands are lines of JSON on stdin, each is answered with one:
# - settle: saves everything as it is.
# - cut: later requests have no effect; they wait a moment, because a program that is about to be killed must not
# notice.
#   With `torn`, a random seed, some unsaved data survives, as on a real disk. With `inSync` it happens when something is
#   about to be synced, or after a second without a sync.
# - fail: waiting and later requests fail, so that a killed program can end.
# - start: mounts again, with the surviving data.
# When stdin ends, it unmounts and ends.
import errno
import json
import os
import random
import stat
import sys
import time

import pyfuse3
import trio

PAGE = 4096
SECTOR = 512
# Only this process changes anything, so the kernel may cache without a limit.
CACHE_SECONDS = 3600
# How long requests wait after a cut: the process that kills the programs may have a request itself.
TIMEOUT_SECONDS = 0.2


class Inode:
    """A file, folder, link or pipe, as programs see it, and `saved`, as a power cut would leave it."""

    def __init__(self, number, mode, context, target=None):
        self.number = number
        self.mode = mode
        self.owner = (context.uid, context.gid) if context else (os.getuid(), os.getgid())
        self.changed = time.time_ns()
        self.target = target
        self.data = bytearray()
        self.names = {}
        self.saved_data = bytearray()
        self.saved_names = {}
        self.saved_mode = mode
        self.pages = set()

    def touch(self, start, end):
        self.pages.update(range(start // PAGE, -(-end // PAGE)))
        self.changed = time.time_ns()

    def resize(self, size):
        length = len(self.data)
        self.touch(min(size, length), max(size, length))
        if size < length:
            del self.data[size:]
        else:
            self.data.extend(bytes(size - length))

    def write(self, offset, data):
        if offset > len(self.data):
            self.resize(offset)
        self.data[offset : offset + len(data)] = data
        self.touch(offset, offset + len(data))

    def save(self):
        self.save_size(len(self.data))
        for page in self.pages:
            self.save_bytes(page * PAGE, (page + 1) * PAGE)
        self.pages.clear()
        self.saved_mode = self.mode

    def save_size(self, size):
        if size < len(self.saved_data):
            del self.saved_data[size:]
        else:
            self.saved_data.extend(bytes(size - len(self.saved_data)))

    def save_bytes(self, start, end):
        end = min(end, len(self.data), len(self.saved_data))
        if end > start:
            self.saved_data[start:end] = self.data[start:end]

    def save_some(self, choice):
        """What a real disk may have written on its own: a length, and any of the pages, the last one partially."""
        low, high = sorted((len(self.saved_data), len(self.data)))
        self.save_size(choice.choice((len(self.saved_data), len(self.data), choice.randint(low, high))))
        for page in sorted(self.pages):
            kept = choice.choice((0, 0, 0, PAGE, PAGE, PAGE, SECTOR * choice.randrange(PAGE // SECTOR)))
            self.save_bytes(page * PAGE, page * PAGE + kept)

    def forget(self):
        """True if anything was lost."""
        lost = self.data != self.saved_data or self.names != self.saved_names
        self.data = bytearray(self.saved_data)
        self.names = dict(self.saved_names)
        self.mode = self.saved_mode
        self.pages.clear()
        return lost


class Disk(pyfuse3.Operations):
    def __init__(self, options):
        super().__init__()
        self.sync = options["sync"]
        self.journal = options["names"] == "journal"
        self.sync_seconds = options["syncMs"] / 1000
        self.pace = random.Random(1)
        self.inodes = {1: Inode(1, stat.S_IFDIR | 0o700, None)}
        self.next_number = 2
        # Unsaved changes of names, in order. Each is a list of (folder, name, inode or None).
        self.changes = []
        self.restart()

    def restart(self):
        self.listings = {}
        self.power = "on"
        self.failing = trio.Event()
        # A sync with something to save starts.
        self.cut_in_sync = False
        self.syncing = trio.Event()

    # What is saved, and what survives.

    def change(self, *names):
        for folder, name, number in names:
            entries = self.inodes[folder].names
            if number is None:
                del entries[name]
            else:
                entries[name] = number
            self.inodes[folder].changed = time.time_ns()
        self.changes.append(names)

    def save_names(self, folder):
        """Of one folder, or of all (None). A rename between two folders includes the earlier changes in both."""
        wanted = {folder}
        saved, left = [], []
        for names in reversed(self.changes):
            folders = {place[0] for place in names}
            if folder is None or wanted & folders:
                wanted |= folders
                saved.append(names)
            else:
                left.append(names)
        self.changes = left[::-1]
        for names in reversed(saved):
            self.save_change(names)

    def save_change(self, names):
        for folder, name, number in names:
            entries = self.inodes[folder].saved_names
            if number is None:
                entries.pop(name, None)
            else:
                entries[name] = number

    def save_some_names(self, choice):
        """The changes of a folder survive in order: if one is lost, so are the later ones."""
        stopped = set()
        for names in self.changes:
            folders = {place[0] for place in names}
            if folders & stopped or choice.random() < 0.5:
                stopped |= folders
            else:
                self.save_change(names)

    def settle(self):
        self.save_names(None)
        for inode in self.inodes.values():
            inode.save()

    async def cut(self, torn, in_sync):
        if in_sync:
            self.cut_in_sync = True
            with trio.move_on_after(1):
                await self.syncing.wait()
        self.power = "cut"
        if torn is not None:
            choice = random.Random(torn)
            self.save_some_names(choice)
            for number in sorted(self.inodes):
                if self.inodes[number].pages:
                    self.inodes[number].save_some(choice)
        changes = len(self.changes)
        self.changes = []
        files = sum([inode.forget() for inode in self.inodes.values()])
        self.sweep()
        return {"files": files, "names": changes}

    def sweep(self):
        """Removes files without a name."""
        found, waiting = set(), [1]
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting.extend(self.inodes[number].names.values())
        self.inodes = {number: inode for number, inode in self.inodes.items() if number in found}

    # Requests from the kernel.

    async def reach(self, number):
        """The inode, if there is power."""
        if self.power == "cut":
            with trio.move_on_after(TIMEOUT_SECONDS):
                await self.failing.wait()
        if self.power != "on" or number not in self.inodes:
            raise pyfuse3.FUSEError(errno.EIO)
        return self.inodes[number]

    async def inside(self, folder, name):
        entries = (await self.reach(folder)).names
        if name not in entries:
            raise pyfuse3.FUSEError(errno.ENOENT)
        return self.inodes[entries[name]]

    def attributes(self, inode):
        entry = pyfuse3.EntryAttributes()
        entry.st_ino = inode.number
        entry.st_mode = inode.mode
        entry.st_uid, entry.st_gid = inode.owner
        entry.st_nlink = 1
        entry.st_size = len(inode.data) if inode.target is None else len(inode.target)
        entry.st_blocks = -(-entry.st_size // SECTOR)
        entry.st_blksize = PAGE
        entry.st_atime_ns = entry.st_mtime_ns = entry.st_ctime_ns = inode.changed
        entry.attr_timeout = entry.entry_timeout = CACHE_SECONDS
        return entry

    async def add(self, folder, name, mode, context, target=None):
        if name in (await self.reach(folder)).names:
            raise pyfuse3.FUSEError(errno.EEXIST)
        inode = Inode(self.next_number, mode, context, target)
        self.next_number += 1
        self.inodes[inode.number] = inode
        self.change((folder, name, inode.number))
        return inode

    async def lookup(self, folder, name, context=None):
        return self.attributes(await self.inside(folder, name))

    async def getattr(self, number, context=None):
        return self.attributes(await self.reach(number))

    async def setattr(self, number, wanted, fields, handle, context):
        inode = await self.reach(number)
        if fields.update_size:
            inode.resize(wanted.st_size)
        if fields.update_mode:
            inode.mode = stat.S_IFMT(inode.mode) | stat.S_IMODE(wanted.st_mode)
        if fields.update_uid:
            inode.owner = (wanted.st_uid, inode.owner[1])
        if fields.update_gid:
            inode.owner = (inode.owner[0], wanted.st_gid)
        if fields.update_mtime:
            inode.changed = wanted.st_mtime_ns
        return self.attributes(inode)

    async def mknod(self, folder, name, mode, device, context):
        return self.attributes(await self.add(folder, name, mode, context))

    async def mkdir(self, folder, name, mode, context):
        return self.attributes(await self.add(folder, name, stat.S_IFDIR | mode, context))

    async def symlink(self, folder, name, target, context):
        return self.attributes(await self.add(folder, name, stat.S_IFLNK | 0o777, context, target))

    async def readlink(self, number, context):
        return (await self.reach(number)).target

    async def link(self, number, folder, name, context):
        inode = await self.reach(number)
        self.change((folder, name, number))
        return self.attributes(inode)

    async def create(self, folder, name, mode, flags, context):
        inode = await self.add(folder, name, stat.S_IFREG | mode, context)
        return pyfuse3.FileInfo(fh=inode.number), self.attributes(inode)

    async def open(self, number, flags, context):
        inode = await self.reach(number)
        if flags & os.O_TRUNC:
            inode.resize(0)
        return pyfuse3.FileInfo(fh=number, keep_cache=True)

    async def read(self, number, offset, length):
        return bytes((await self.reach(number)).data[offset : offset + length])

    async def write(self, number, offset, data):
        (await self.reach(number)).write(offset, data)
        return len(data)

    async def unlink(self, folder, name, context):
        await self.inside(folder, name)
        self.change((folder, name, None))

    async def rmdir(self, folder, name, context):
        if (await self.inside(folder, name)).names:
            raise pyfuse3.FUSEError(errno.ENOTEMPTY)
        self.change((folder, name, None))

    async def rename(self, folder, name, to_folder, to_name, flags, context):
        inode = await self.inside(folder, name)
        if flags & pyfuse3.RENAME_EXCHANGE:
            other = await self.inside(to_folder, to_name)
            self.change((folder, name, other.number), (to_folder, to_name, inode.number))
            return
        replaced = self.inodes.get((await self.reach(to_folder)).names.get(to_name))
        if replaced and flags & pyfuse3.RENAME_NOREPLACE:
            raise pyfuse3.FUSEError(errno.EEXIST)
        if replaced and replaced.names:
            raise pyfuse3.FUSEError(errno.ENOTEMPTY)
        self.change((folder, name, None), (to_folder, to_name, inode.number))

    async def fsync(self, number, datasync):
        if self.cut_in_sync and (await self.reach(number)).pages:
            self.power = "cut"
            self.syncing.set()
        await self.take_time()
        inode = await self.reach(number)
        if self.sync != "nothing":
            inode.save()
            if self.journal:
                self.save_names(None)
        await self.take_time()
        await self.reach(number)

    async def opendir(self, number, context):
        inode = await self.reach(number)
        handle = self.next_number
        self.next_number += 1
        self.listings[handle] = (number, list(inode.names.items()))
        return handle

    async def readdir(self, handle, start, token):
        number, listing = self.listings[handle]
        await self.reach(number)
        for place, (name, child) in enumerate(listing[start:], start + 1):
            if child not in self.inodes:
                continue
            if not pyfuse3.readdir_reply(token, name, self.attributes(self.inodes[child]), place):
                return

    async def releasedir(self, handle):
        del self.listings[handle]

    async def fsyncdir(self, handle, datasync):
        number, _ = self.listings[handle]
        await self.take_time()
        await self.reach(number)
        if self.sync == "everything":
            self.save_names(None if self.journal else number)
        await self.take_time()
        await self.reach(number)

    async def take_time(self):
        """Like a disk, so that a cut can come before and after the data is saved."""
        if self.sync_seconds > 0:
            await trio.sleep(self.sync_seconds * self.pace.random())

    async def statfs(self, context):
        status = pyfuse3.StatvfsData()
        status.f_bsize = status.f_frsize = PAGE
        status.f_blocks = status.f_bfree = status.f_bavail = 2**24
        status.f_files = status.f_ffree = status.f_favail = 2**24
        status.f_namemax = 255
        return status


def answer(**what):
    print(json.dumps(what), flush=True)


async def commands(disk, lines):
    """Runs until the mount has to end: true if another follows."""
    async for line in lines:
        command = json.loads(line)
        if command["do"] == "settle":
            disk.settle()
            answer(settled=True)
        elif command["do"] == "cut":
            answer(forgotten=await disk.cut(command["torn"], command["inSync"]))
        elif command["do"] == "fail":
            disk.power = "off"
            disk.failing.set()
            answer(failing=True)
        elif command["do"] == "start":
            return True
    return False


async def lines_of(stream):
    rest = b""
    async for data in stream:
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line


async def serve(disk, folder):
    lines = lines_of(trio.lowlevel.FdStream(os.dup(0)))
    while True:
        disk.restart()
        pyfuse3.init(disk, folder, set(pyfuse3.default_options) | {"fsname=svc-power-cut"})
        again = False
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(pyfuse3.main)
                answer(mounted=True)
                again = await commands(disk, lines)
                disk.power = "off"
                disk.failing.set()
                nursery.cancel_scope.cancel()
        finally:
            pyfuse3.close()
        if not again:
            return


options = json.loads(sys.argv[1])
trio.run(serve, Disk(options), options["folder"])
