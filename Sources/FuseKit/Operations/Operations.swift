import CFuse3
import Glibc
import Synchronization

/// Returns libfuse's table. Each entry passes the call to the file system of the session.
func makeOperations() -> fuse_lowlevel_ops {
    var operations = fuse_lowlevel_ops()
    addLifecycle(&operations)
    addNodes(&operations)
    addLinks(&operations)
    addNames(&operations)
    addFiles(&operations)
    addData(&operations)
    addDirectories(&operations)
    addExtendedAttributes(&operations)
    return operations
}

private func box(_ context: UnsafeMutableRawPointer) -> FileSystemBox {
    // Unretained: the Session that owns the box outlives every call.
    Unmanaged<FileSystemBox>.fromOpaque(context).takeUnretainedValue()
}

private func fileSystem(_ context: UnsafeMutableRawPointer) -> any FileSystem {
    box(context).fileSystem
}

/// Passes the call to its file system. The closure takes over the duty to answer.
@inline(__always)
private func dispatch(
    _ request: fuse_req_t?, _ body: (_ fileSystem: any FileSystem, _ request: fuse_req_t) -> Void
) {
    guard let request, let context = fuse_req_userdata(request) else { return }
    ServedCaller(threadID: fuse_req_ctx(request)?.pointee.pid ?? 0).begin()
    body(fileSystem(context), request)
}

private typealias FileInfo = UnsafeMutablePointer<fuse_file_info>

extension FileHandle {
    fileprivate init(_ info: FileInfo?) { self.init(info?.pointee.fh ?? 0) }
}

extension OpenFlags {
    fileprivate init(_ info: FileInfo?) { self.init(rawValue: info?.pointee.flags ?? 0) }
}

private func addLifecycle(_ operations: inout fuse_lowlevel_ops) {
    operations.`init` = { context, connection in
        guard let context, let connection else { return }
        negotiate(box(context), &connection.pointee)
    }
    operations.destroy = { context in
        guard let context else { return }
        fileSystem(context).destroy()
    }
    operations.forget = { request, node, count in
        dispatch(request) { fileSystem, request in
            fileSystem.forget(node: NodeID(node), count: count)
            fuse_reply_none(request)
        }
    }
    operations.forget_multi = { request, count, forgets in
        dispatch(request) { fileSystem, request in
            for forget in UnsafeBufferPointer(start: forgets, count: count) {
                fileSystem.forget(node: NodeID(forget.ino), count: forget.nlookup)
            }
            fuse_reply_none(request)
        }
    }
    operations.statfs = { request, node in
        dispatch(request) { $0.statfs(node: NodeID(node), reply: Reply($1)) }
    }
}

/// Settles the capabilities that both sides have. Requesting one that the kernel does not have
/// would end the mount.
private func negotiate(_ box: FileSystemBox, _ info: inout fuse_conn_info) {
    let capable = Connection.Capabilities(rawValue: info.capable)
    var connection = Connection(
        capable: capable, wanted: Connection.Capabilities.standard.intersection(capable),
        maxWrite: 1 << 20, maxReadahead: info.max_readahead, maxBackground: 64,
        protocolMajor: info.proto_major, protocolMinor: info.proto_minor)
    box.fileSystem.initialize(&connection)
    let wanted = connection.wanted.intersection(capable)
    info.want = wanted.rawValue
    box.answersInit.store(wanted.contains(.handleKillPrivileges), ordering: .relaxed)
    info.max_write = connection.maxWrite
    info.max_readahead = min(info.max_readahead, connection.maxReadahead)
    info.max_background = connection.maxBackground
    info.congestion_threshold = connection.maxBackground / 4 * 3
}

private func addNodes(_ operations: inout fuse_lowlevel_ops) {
    operations.lookup = { request, parent, name in
        dispatch(request) {
            $0.lookup(parent: NodeID(parent), name: FileName(cString: name), reply: Reply($1))
        }
    }
    operations.getattr = { request, node, info in
        dispatch(request) {
            $0.getattr(
                node: NodeID(node), handle: info.map { FileHandle($0) }, reply: Reply($1))
        }
    }
    operations.setattr = { request, node, status, set, info in
        dispatch(request) { fileSystem, request in
            guard let status else { return Reply<ReplyKind.Attributes>(request).fail(.EINVAL) }
            fileSystem.setattr(
                node: NodeID(node), changes: AttributeChanges(status.pointee, set),
                handle: info.map { FileHandle($0) }, reply: Reply(request))
        }
    }
    operations.access = { request, node, mask in
        dispatch(request) { $0.access(node: NodeID(node), mask: mask, reply: Reply($1)) }
    }
}

extension AttributeChanges {
    fileprivate init(_ status: stat, _ set: Int32) {
        self.init()
        if set & FUSE_SET_ATTR_MODE != 0 { mode = status.st_mode }
        if set & FUSE_SET_ATTR_UID != 0 { uid = status.st_uid }
        if set & FUSE_SET_ATTR_GID != 0 { gid = status.st_gid }
        if set & FUSE_SET_ATTR_SIZE != 0 { size = Int64(status.st_size) }
        if set & FUSE_SET_ATTR_ATIME != 0 { accessTime = .set(Time(status.st_atim)) }
        if set & FUSE_SET_ATTR_ATIME_NOW != 0 { accessTime = .now }
        if set & FUSE_SET_ATTR_MTIME != 0 { modificationTime = .set(Time(status.st_mtim)) }
        if set & FUSE_SET_ATTR_MTIME_NOW != 0 { modificationTime = .now }
        if set & FUSE_SET_ATTR_CTIME != 0 { changeTime = Time(status.st_ctim) }
    }
}

private func addLinks(_ operations: inout fuse_lowlevel_ops) {
    operations.readlink = { request, node in
        dispatch(request) { $0.readlink(node: NodeID(node), reply: Reply($1)) }
    }
    operations.symlink = { request, target, parent, name in
        dispatch(request) {
            $0.symlink(
                target: FileName(cString: target).bytes, parent: NodeID(parent),
                name: FileName(cString: name), reply: Reply($1))
        }
    }
    operations.link = { request, node, parent, name in
        dispatch(request) {
            $0.link(
                node: NodeID(node), newParent: NodeID(parent), newName: FileName(cString: name),
                reply: Reply($1))
        }
    }
}

private func addNames(_ operations: inout fuse_lowlevel_ops) {
    operations.mknod = { request, parent, name, mode, device in
        dispatch(request) {
            $0.mknod(
                parent: NodeID(parent), name: FileName(cString: name), mode: mode,
                device: UInt64(device), reply: Reply($1))
        }
    }
    operations.mkdir = { request, parent, name, mode in
        dispatch(request) {
            $0.mkdir(
                parent: NodeID(parent), name: FileName(cString: name), mode: mode,
                reply: Reply($1))
        }
    }
    operations.unlink = { request, parent, name in
        dispatch(request) {
            $0.unlink(parent: NodeID(parent), name: FileName(cString: name), reply: Reply($1))
        }
    }
    operations.rmdir = { request, parent, name in
        dispatch(request) {
            $0.rmdir(parent: NodeID(parent), name: FileName(cString: name), reply: Reply($1))
        }
    }
    operations.rename = { request, parent, name, newParent, newName, flags in
        dispatch(request) {
            $0.rename(
                parent: NodeID(parent), name: FileName(cString: name),
                newParent: NodeID(newParent), newName: FileName(cString: newName),
                flags: RenameFlags(rawValue: flags), reply: Reply($1))
        }
    }
}

private func addFiles(_ operations: inout fuse_lowlevel_ops) {
    operations.open = { request, node, info in
        dispatch(request) {
            $0.open(node: NodeID(node), flags: OpenFlags(info), reply: Reply($1))
        }
    }
    operations.create = { request, parent, name, mode, info in
        dispatch(request) {
            $0.create(
                parent: NodeID(parent), name: FileName(cString: name), mode: mode,
                flags: OpenFlags(info), reply: Reply($1))
        }
    }
    operations.flush = { request, node, info in
        dispatch(request) {
            $0.flush(
                node: NodeID(node), handle: FileHandle(info),
                lockOwner: info?.pointee.lock_owner ?? 0, reply: Reply($1))
        }
    }
    operations.fsync = { request, node, dataOnly, info in
        dispatch(request) {
            $0.fsync(
                node: NodeID(node), handle: FileHandle(info), dataOnly: dataOnly != 0,
                reply: Reply($1))
        }
    }
    operations.release = { request, node, info in
        dispatch(request) {
            $0.release(
                node: NodeID(node), handle: FileHandle(info), flags: OpenFlags(info),
                reply: Reply($1))
        }
    }
    operations.poll = { request, node, info, wakeup in
        dispatch(request) {
            $0.poll(
                node: NodeID(node), handle: FileHandle(info),
                events: info?.pointee.poll_events ?? 0, wakeup: wakeup.map { PollHandle($0) },
                reply: Reply($1))
        }
    }
}

private func addData(_ operations: inout fuse_lowlevel_ops) {
    operations.read = { request, node, size, offset, info in
        dispatch(request) {
            $0.read(
                node: NodeID(node), handle: FileHandle(info), offset: Int64(offset),
                reply: Reply($1, size: size))
        }
    }
    operations.write = { request, node, data, size, offset, info in
        dispatch(request) {
            $0.write(
                node: NodeID(node), handle: FileHandle(info), offset: Int64(offset),
                data: UnsafeRawBufferPointer(start: data, count: size),
                isWriteback: info?.pointee.writepage == 1, reply: Reply($1))
        }
    }
    operations.fallocate = { request, node, mode, offset, length, info in
        dispatch(request) {
            $0.fallocate(
                node: NodeID(node), handle: FileHandle(info), mode: mode, offset: Int64(offset),
                length: Int64(length), reply: Reply($1))
        }
    }
    operations.lseek = { request, node, offset, whence, info in
        dispatch(request) {
            $0.lseek(
                node: NodeID(node), handle: FileHandle(info), offset: Int64(offset),
                whence: whence, reply: Reply($1))
        }
    }
}

private func addDirectories(_ operations: inout fuse_lowlevel_ops) {
    operations.opendir = { request, node, info in
        dispatch(request) {
            $0.opendir(node: NodeID(node), flags: OpenFlags(info), reply: Reply($1))
        }
    }
    operations.readdir = { request, node, size, offset, info in
        dispatch(request) {
            $0.readdir(
                node: NodeID(node), handle: FileHandle(info), offset: Int64(offset),
                reply: DirectoryReply($1, size: size))
        }
    }
    operations.readdirplus = { request, node, size, offset, info in
        dispatch(request) {
            $0.readdirplus(
                node: NodeID(node), handle: FileHandle(info), offset: Int64(offset),
                reply: DirectoryReply($1, size: size))
        }
    }
    operations.releasedir = { request, node, info in
        dispatch(request) {
            $0.releasedir(node: NodeID(node), handle: FileHandle(info), reply: Reply($1))
        }
    }
    operations.fsyncdir = { request, node, dataOnly, info in
        dispatch(request) {
            $0.fsyncdir(
                node: NodeID(node), handle: FileHandle(info), dataOnly: dataOnly != 0,
                reply: Reply($1))
        }
    }
}

private func addExtendedAttributes(_ operations: inout fuse_lowlevel_ops) {
    operations.setxattr = { request, node, name, value, size, flags in
        dispatch(request) {
            $0.setxattr(
                node: NodeID(node), name: FileName(cString: name),
                value: UnsafeRawBufferPointer(start: value, count: size),
                flags: ExtendedAttributeFlags(rawValue: flags), reply: Reply($1))
        }
    }
    operations.getxattr = { request, node, name, size in
        dispatch(request) {
            $0.getxattr(
                node: NodeID(node), name: FileName(cString: name), reply: Reply($1, size: size))
        }
    }
    operations.listxattr = { request, node, size in
        dispatch(request) { $0.listxattr(node: NodeID(node), reply: Reply($1, size: size)) }
    }
    operations.removexattr = { request, node, name in
        dispatch(request) {
            $0.removexattr(node: NodeID(node), name: FileName(cString: name), reply: Reply($1))
        }
    }
}
