import ArgumentParser
import Glibc
import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordServerTLS
import RecordWire

/// `recordfs-server doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the data, the configuration and the machine.",
        discussion: """
            The command changes nothing. You can use it while the server runs. Give it the same \
            options, variables and file as `serve`. It ends with status 1 when something is bad.
            """)

    @OptionGroup var data: DataOptions
    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Read the whole database and every asset.")
    var deep = false
    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let configuration = try options.configuration(data: data)
        var findings = ConfigurationCheck.findings(configuration)
        findings += MachineCheck.findings(configuration)
        let opened = try OpenedData(in: configuration.dataDirectory)
        do throws(ServerError) {
            findings += try await opened.storage.inspect(
                assets: try StorageFactory.openAssets(configuration), deep: deep)
            findings += try await opened.accounts.findings()
        } catch {
            findings.append(Finding(.bad, "data", error.reason))
        }
        var table = Table(["grade", "what", "detail"])
        for finding in findings {
            table.add(
                .text(Text(finding.grade.rawValue)), .text(Text(finding.what)),
                .text(Text(finding.detail)))
        }
        table.print(asJSON: json)
        if findings.contains(where: { $0.grade == .bad }) { throw ExitCode(1) }
    }
}

/// The checks of a configuration that can be read.
enum ConfigurationCheck {
    static func findings(_ configuration: ServerConfiguration) -> [Finding] {
        var findings = configuration.warnings.map { Finding(.warning, "configuration", $0) }
        if let certificate = configuration.tlsCertificatePath, let key = configuration.tlsKeyPath {
            do throws(ServerError) {
                let tls = try TLSContext(certificatePath: certificate, keyPath: key)
                findings.append(validity(of: tls, certificate))
            } catch {
                findings.append(Finding(.bad, "certificate", error.reason))
            }
        }
        do throws(ServerError) {
            _ = try DataDirectory(configuration.dataDirectory).logo()
        } catch {
            findings.append(Finding(.bad, "logo", error.reason))
        }
        return findings.isEmpty ? [Finding(.good, "configuration", "no problems")] : findings
    }

    private static func validity(of tls: TLSContext, _ path: String) -> Finding {
        let (now, end) = (SystemClock().now.seconds, tls.validSeconds.upperBound)
        let days = (end - now) / 86_400
        let time = ISO8601.print(milliseconds: end * 1_000)
        if let fault = tls.fault(at: now) {
            return Finding(.bad, "certificate", "\(path) \(fault).")
        }
        return days < 14
            ? Finding(.warning, "certificate", "\(path) ends in \(days) days, at \(time).")
            : Finding(.good, "certificate", "good until \(time)")
    }
}

/// The checks of the place of the data.
enum MachineCheck {
    private static let leastBytes: Int64 = 1 << 30

    static func findings(_ configuration: ServerConfiguration) -> [Finding] {
        [permissions(configuration.dataDirectory), space(configuration.dataDirectory)]
    }

    private static func permissions(_ directory: String) -> Finding {
        var status = stat()
        guard stat(directory, &status) == 0 else {
            return Finding(.bad, "directory", "\(directory) cannot be read.")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            return Finding(
                .bad, "directory",
                "\(directory) is open to other users of this machine (mode \(mode)): chmod 700.")
        }
        return Finding(.good, "directory", "\(directory) is for its owner alone")
    }

    private static func space(_ directory: String) -> Finding {
        var disk = statvfs()
        guard statvfs(directory, &disk) == 0 else {
            return Finding(.warning, "space", "The free space is not known.")
        }
        let free = Int64(disk.f_bavail) * Int64(disk.f_frsize)
        return Finding(
            free < leastBytes ? .warning : .good, "space", "\(ByteSize.text(free)) are free")
    }
}
