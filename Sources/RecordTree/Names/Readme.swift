/// `MNT/README.md`: an explanation of this tree for people and programs that find it.
enum Readme {
    static let name = Array("README.md".utf8)
    static let text = Array(
        """
        # RecordFS

        Records as files. `DATABASE/ZONE/TYPE/NAME.json` is one record; `NAME@FIELD.EXT` beside it
        is one of its large fields. `mkdir` in a database makes a zone, `mkdir` in a zone makes a
        record type. Edit, copy, move and remove records with the tools you know.

        - `private/`  your own zones        - `shared/`  zones that others share with you
        - `public/`   the public database   - `local/`   never leaves this machine

        Saving is checked. Text that is no valid record stays in the file as a draft that only this
        machine sees, and the record does not change. To find the error:

            cat DIR/.error                 the last rejected save of a directory
            cat .recordfs/meta/DB/ZONE/TYPE/NAME.json    name, times, state, error
            recordfs status                everything that waits or needs you
            recordfs draft discard PATH    discard a draft
            recordfs restore --since 1h .  undo the changes of a directory

        Names that do not end in `.json` (swap files, backups, temporary files) are scratch: they
        stay on this machine. Files that tools left there (NAME~, swap files) move to a trash
        after 7 days without use; the rest stays.

        Deleted records wait in `.recordfs/trash/` for 30 days; every version is in
        `.recordfs/history/`. `.recordfs` does not show in `ls`; open it by name:

            cat  .recordfs/status.json
            ls   '.recordfs/query/private/ZONE/TYPE/servings>=4,cuisine=thai/'
            ls   '.recordfs/search/private/ZONE/lime soup/'
            cp   .recordfs/export/private/ZONE/TYPE.csv  /tmp/

        """.utf8)
}
