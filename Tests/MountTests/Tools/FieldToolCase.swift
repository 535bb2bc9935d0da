import Foundation

/// A command that writes beside or over a large field's file, `$F`, in a folder that has the record
/// `r.json` too. `$O` has what it takes from elsewhere.
struct FieldToolCase: Sendable {
    /// As the compatibility table shows it.
    let name: String
    /// What `$F` is made from: a file of `$O`; with its ending it is `r@data.ENDING`.
    var start = "start.bin"
    let script: String
    /// The names of large fields that all machines have afterwards; `$F` when nil.
    var listed: [String]?
    /// Instead of the record and its file.
    var setup: String?

    var ending: String { String(start.drop { $0 != "." }) }
    var file: String { "r@data\(ending)" }
    var fields: [String] { listed ?? [file] }
}

extension FieldToolCase {
    static let all =
        packers + databases + pictures + downloads + copies + editors + archives + renames + calls
        + (ProcessInfo.processInfo.environment["RECORDFS_LONG"] == nil ? [] : heavy)

    /// Programs of large packages: `scripts/field-tools-long`.
    private static let heavy = [
        FieldToolCase(
            name: "ffmpeg, mv", start: "start.png",
            script: "ffmpeg -v error -i $F -bitexact $F.tmp.png && mv $F.tmp.png $F"),
        FieldToolCase(
            name: "soffice --convert-to", start: "start.txt",
            script:
                "soffice -env:UserInstallation=file://$O/office --headless --convert-to html $F >/dev/null"
        ),
        FieldToolCase(
            name: "gimp, file-png-save", start: "start.png",
            script: """
                gimp -i -b "(let* ((i (car (gimp-file-load 1 \"$F\" \"$F\"))) \
                    (d (car (gimp-image-get-active-drawable i)))) \
                    (gimp-drawable-invert d 0) (gimp-file-save 1 i d \"$F\" \"$F\"))" \
                    -b '(gimp-quit 1)' 2>/dev/null
                """),
    ]

    private static let packers = [
        FieldToolCase(name: "gzip -f", script: "gzip -nf $F", listed: ["r@data.bin.gz"]),
        FieldToolCase(name: "gzip -k", script: "gzip -nk $F"),
        FieldToolCase(name: "gzip -c > FILE.gz", script: "gzip -nc $F > $F.gz"),
        FieldToolCase(
            name: "gunzip", start: "start.bin.gz", script: "gunzip $F", listed: ["r@data.bin"]),
        FieldToolCase(name: "xz", script: "xz $F", listed: ["r@data.bin.xz"]),
        FieldToolCase(
            name: "unxz", start: "start.bin.xz", script: "unxz $F", listed: ["r@data.bin"]),
        FieldToolCase(name: "bzip2", script: "bzip2 $F", listed: ["r@data.bin.bz2"]),
        FieldToolCase(name: "zstd", script: "zstd -q $F"),
        FieldToolCase(name: "zstd --rm", script: "zstd -q --rm $F", listed: ["r@data.bin.zst"]),
        FieldToolCase(
            name: "lz4 --rm", script: "lz4 -q --rm $F $F.lz4", listed: ["r@data.bin.lz4"]),
        FieldToolCase(
            name: "sha256sum > FILE.sha256",
            script: "sha256sum $F > $F.sha256; sha256sum -c $F.sha256"),
        FieldToolCase(name: "md5sum > FILE.md5", script: "md5sum $F > $F.md5; md5sum -c $F.md5"),
    ]

    private static let databases = [
        FieldToolCase(
            name: "sqlite3, a read", start: "start.db", script: "sqlite3 $F 'select * from t'"),
        FieldToolCase(
            name: "sqlite3, a write with a journal", start: "start.db",
            script: "sqlite3 $F 'insert into t values (2); delete from t where n = 1'"),
        FieldToolCase(
            name: "sqlite3, a write in WAL mode", start: "start.db",
            script:
                "sqlite3 $F 'pragma journal_mode=wal; insert into t values (2)'; sqlite3 $F 'select * from t'"
        ),
        FieldToolCase(name: "sqlite3 VACUUM", start: "start.db", script: "sqlite3 $F vacuum"),
        FieldToolCase(
            name: "sqlite3 .backup", start: "start.db", script: "sqlite3 $F '.backup copy.db'"),
    ]

    private static let pictures = [
        FieldToolCase(name: "exiftool", start: "start.jpg", script: "exiftool -q -Artist=Ada $F"),
        FieldToolCase(
            name: "exiftool -overwrite_original", start: "start.jpg",
            script: "exiftool -q -overwrite_original -Artist=Ada $F"),
        FieldToolCase(
            name: "exiftool -overwrite_original_in_place", start: "start.jpg",
            script: "exiftool -q -overwrite_original_in_place -Artist=Ada $F"),
        FieldToolCase(name: "jpegoptim", start: "start.jpg", script: "jpegoptim -q -f -m 50 $F"),
        FieldToolCase(name: "optipng", start: "start.png", script: "optipng -quiet -force $F"),
        FieldToolCase(
            name: "mogrify", start: "start.png",
            script: "mogrify -define png:exclude-chunks=date,time -negate $F"),
        FieldToolCase(
            name: "convert to another format", start: "start.png", script: "convert $F r@data.gif"),
        FieldToolCase(
            name: "convert, rm", start: "start.png", script: "convert $F r@data.gif && rm $F",
            listed: ["r@data.gif"]),
        FieldToolCase(
            name: "qpdf --replace-input", start: "start.pdf",
            script: "qpdf --deterministic-id --replace-input $F"),
        FieldToolCase(
            name: "qpdf IN OUT, mv", start: "start.pdf",
            script: "qpdf --deterministic-id $F $F.new && mv $F.new $F"),
    ]

    private static let downloads = [
        FieldToolCase(name: "curl -o", script: "served curl -s -o $F URL"),
        FieldToolCase(
            name: "curl -o FILE.part, mv", script: "served curl -s -o $F.part URL; mv $F.part $F"),
        FieldToolCase(name: "wget -O", script: "served wget -q -O $F URL"),
        FieldToolCase(
            name: "aria2c",
            script: "served aria2c -q --allow-overwrite=true --auto-file-renaming=false -o $F URL"),
        FieldToolCase(
            name: "a browser's .crdownload", setupRecord: true,
            script: "cp $O/new.bin $F.crdownload; mv $F.crdownload $F"),
        FieldToolCase(
            name: "rclone copyto", script: "rclone --config /dev/null copyto $O/new.bin $F"),
    ]

    private static let copies = [
        FieldToolCase(name: "cp", script: "cp $O/new.bin $F"),
        FieldToolCase(name: "cp -p", script: "cp -p $O/new.bin $F"),
        FieldToolCase(
            name: "cp --remove-destination", script: "cp --remove-destination $O/new.bin $F"),
        FieldToolCase(name: "cp --backup=numbered", script: "cp --backup=numbered $O/new.bin $F"),
        FieldToolCase(name: "cp -b -S .orig", script: "cp -b -S .orig $O/new.bin $F"),
        FieldToolCase(name: "install", script: "install -m 644 $O/new.bin $F"),
        FieldToolCase(name: "install -b", script: "install -b -m 644 $O/new.bin $F"),
        FieldToolCase(name: "mv -b", script: "cp $O/new.bin in && mv -b in $F"),
        FieldToolCase(name: "rsync -a", script: "rsync -a $O/new.bin $F"),
        FieldToolCase(name: "rsync --inplace", script: "rsync -a --inplace $O/new.bin $F"),
        FieldToolCase(
            name: "rsync --partial-dir", script: "rsync -a --partial-dir=.part $O/new.bin $F"),
        FieldToolCase(
            name: "rsync --delay-updates", script: "rsync -a --delay-updates $O/new.bin $F"),
        FieldToolCase(name: "rsync --backup", script: "rsync -a --backup $O/new.bin $F"),
        FieldToolCase(
            name: "rsync --backup --suffix=.1",
            script: "rsync -a --backup --suffix=.1 $O/new.bin $F"),
        FieldToolCase(name: "rsync --temp-dir", script: "rsync -a --temp-dir=$O $O/new.bin $F"),
        FieldToolCase(name: "dd", script: "dd status=none if=$O/new.bin of=$F"),
        FieldToolCase(
            name: "dd conv=notrunc",
            script: "dd status=none conv=notrunc bs=10 count=1 if=$O/new.bin of=$F"),
        FieldToolCase(name: "truncate", script: "truncate -s 100 $F; truncate -s 3000 $F"),
    ]

    private static let editors = [
        FieldToolCase(name: "sed -i", start: "start.txt", script: "sed -i s/one/two/ $F"),
        FieldToolCase(name: "sed -i.bak", start: "start.txt", script: "sed -i.bak s/one/two/ $F"),
        FieldToolCase(name: "sed -i.1", start: "start.txt", script: "sed -i.1 s/one/two/ $F"),
        FieldToolCase(name: "perl -i", start: "start.txt", script: "perl -i -pe s/one/two/ $F"),
        FieldToolCase(
            name: "perl -i.orig", start: "start.txt", script: "perl -i.orig -pe s/one/two/ $F"),
        FieldToolCase(
            name: "patch -b", start: "start.txt", script: "patch -s -b $F $O/change.patch"),
        FieldToolCase(name: "sponge", start: "start.txt", script: "tr a-z A-Z < $F | sponge $F"),
        FieldToolCase(name: "sort -o", start: "start.txt", script: "sort -o $F $F"),
        FieldToolCase(
            name: "ed", start: "start.txt", script: "printf '1s/one/two/\\nw\\nq\\n' | ed -s $F"),
        FieldToolCase(
            name: "vim", start: "start.txt",
            script: "vim -u NONE -i NONE -n -es -c '1s/one/two/' -c wq $F"),
        FieldToolCase(
            name: "vim, backup and writebackup", start: "start.txt",
            script:
                "vim -u NONE -i NONE -es -c 'set backup backupcopy=no' -c '1s/one/two/' -c wq $F"),
        FieldToolCase(
            name: "emacs", start: "start.txt",
            script:
                "emacs -Q --batch $F --eval '(progn (insert \"two \") (save-buffer))' 2>/dev/null"),
    ]

    private static let archives = [
        FieldToolCase(
            name: "tar c, tar x",
            script: "tar cf $O/x.tar $F && cp $O/new.bin $F && tar xf $O/x.tar"),
        FieldToolCase(name: "tar cf FILE.tar", script: "tar cf $F.tar $F"),
        FieldToolCase(
            name: "zip, unzip -o",
            script: "rm -f $O/x.zip; zip -qX $O/x.zip $F && cp $O/new.bin $F && unzip -qo $O/x.zip"),
        FieldToolCase(
            name: "7z a, 7z x",
            script:
                "rm -f $O/x.7z; 7zz a -bso0 -bsp0 $O/x.7z $F && cp $O/new.bin $F && 7zz x -bso0 -bsp0 -y $O/x.7z"
        ),
        FieldToolCase(
            name: "split, cat", script: "split -b 700 $F $F. && cp $F.aa $F && cat $F.* > $F"),
        FieldToolCase(
            name: "git checkout",
            script: """
                rm -rf $O/git; export GIT_DIR=$O/git GIT_WORK_TREE=.
                git init -q && git add $F && git -c user.name=a -c user.email=a@b commit -qm 1
                cp $O/new.bin $F && git checkout -q -- $F
                """),
    ]

    private static let renames = [
        FieldToolCase(
            name: "mv to another ending", script: "mv $F r@data.dat", listed: ["r@data.dat"]),
        FieldToolCase(name: "rename", script: "rename s/bin/dat/ $F", listed: ["r@data.dat"]),
        FieldToolCase(name: "mmv", script: "mmv '*.bin' '#1.dat'", listed: ["r@data.dat"]),
        FieldToolCase(
            name: "mv to another field", script: "mv $F r@copy.bin", listed: ["r@copy.bin"]),
        FieldToolCase(name: "mv to a name of this machine", script: "mv $F keep.bin", listed: []),
        FieldToolCase(name: "mv away and back", script: "mv $F keep && mv keep $F"),
        FieldToolCase(
            name: "logrotate (mv FILE FILE.1, create)",
            script: "mv $F $F.1 && : > $F && cat $O/new.bin >> $F"),
        FieldToolCase(
            name: "vidir, two records exchanged", script: "EDITOR=$O/exchange vidir",
            listed: ["a@data.bin", "b@data.bin"], setup: pair),
        FieldToolCase(
            name: "mv by a third name, two records exchanged",
            script: """
                mv a.json t; mv b.json a.json; mv t b.json
                mv a@data.bin t; mv b@data.bin a@data.bin; mv t b@data.bin
                """,
            listed: ["a@data.bin", "b@data.bin"], setup: pair),
        FieldToolCase(
            name: "mv by third names, large fields first",
            script: """
                mv a@data.bin t; mv b@data.bin a@data.bin; mv t b@data.bin
                mv a.json t; mv b.json a.json; mv t b.json
                """,
            listed: ["a@data.bin", "b@data.bin"], setup: pair),
        FieldToolCase(
            name: "qmv, two records exchanged", script: "qmv -f do -e $O/exchange",
            listed: ["a@data.bin", "b@data.bin"], setup: pair),
    ]

    private static let pair = """
        for i in a b; do
            echo "{\\"k\\": \\"$i\\"}" > $i.json; { echo $i; cat $O/start.bin; } > $i@data.bin
        done
        """

    private static let calls = [
        FieldToolCase(name: "shred", script: "shred -n 0 -z $F"),
        FieldToolCase(name: "shred -u", script: "shred -n 1 -u $F", listed: []),
        FieldToolCase(name: "rm", script: "rm $F", listed: []),
        FieldToolCase(name: "flock FILE.lock", script: "flock $F.lock cp $O/new.bin $F"),
        FieldToolCase(name: "flock FILE", script: "flock $F true"),
        FieldToolCase(name: "tee", script: "tee $F < $O/new.bin > /dev/null"),
        FieldToolCase(
            name: "a temporary file, fsync, rename",
            script: """
                python3 -c '
                import os, sys
                name, new = sys.argv[1:]
                with open(name + ".tmp", "wb") as f:
                    f.write(open(new, "rb").read()); f.flush(); os.fsync(f.fileno())
                os.replace(name + ".tmp", name)' $F $O/new.bin
                """),
    ]

    private init(name: String, setupRecord: Bool, script: String) {
        self.init(name: name, script: script, setup: "echo '{\"k\": 1}' > r.json")
    }
}
