What scripts/recording plays and draws, in the order of time:

    MACHINE $ COMMAND      a command that succeeds
    MACHINE ! COMMAND      a command that must fail
    MACHINE > MACHINE      wait until the second machine has what the first one saved; drawn as an arrow

Two spaces and # begin a comment. An empty line begins a new scene: its two halves start at the same height.
A machine has 14 lines of 58 columns at most. These notes end with the line of dashes.
---
laptop $ recordfs mount
desktop $ recordfs mount
laptop $ mkdir -p RecordFS/private/Kitchen/Recipe
laptop $ cd RecordFS/private/Kitchen/Recipe
laptop $ echo '{"title": "Soup", "servings": 4}' > soup.json
laptop > desktop
desktop $ cd RecordFS/private/Kitchen/Recipe
desktop $ cat soup.json  # it is here already

desktop $ sed -i 's/4/6/' soup.json  # edit it with any tool
desktop > laptop
laptop $ cat soup.json  # and it comes back

laptop $ cp ~/soup.jpg soup@photo.jpg  # add a photo
laptop > desktop
desktop $ ls -lh soup*

laptop ! sed -i 's/: 6/: six/' soup.json  # a bad save is refused
laptop $ head -n 1 .error  # the reason
desktop $ recordfs history soup.json  # all versions, no bad one
