/// Texts that several tests read.
enum Samples {
    /// Every kind of value, in no tidy layout.
    static let rich = """
        {
          "$parent": "cookbook",
          "title" : "Käse\\u002dSuppe 😀 \\"hot\\"",
        \t"servings": -42, "price": 1.50e1,
          "vegan": true, "nothing": null,
          "tags": ["a", "b\\n"],
          "ratings": [1, 2.5, -3],
          "made": {"$timestamp": "2026-11-20T10:00:00.000Z"},
          "thumb": {"$bytes": "AAEC/w=="},
          "place": {"$location": {"latitude": 48.1, "longitude": -11.5, "altitude": 3e2}},
          "author": {"$ref": "me", "zone": "People", "action": "DELETE_SELF"},
          "photo": {"$asset": "soup@photo.png", "size": 12345},
          "steps": {"one": [1, "two", {"three": []}], "four": null},
          "mixed": [1, "a", null],
          "none": []
        }

        """
}
