import RecordModel

/// The result of a step, as a model expects it or as a call gives it.
enum StepOutcome: Equatable {
    case done
    /// The error number is that of the contract.
    case refused(Int32)
    /// The model says nothing of the step, or the kernel answers before it asks.
    case left

    /// Takes a step. Rethrows every error that is no refusal.
    init(of step: () throws -> Void) throws {
        do {
            try step()
            self = .done
        } catch let error as RecordError {
            self = .refused(error.contractErrno)
        }
    }
}
