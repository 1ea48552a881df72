/// What a library above this one keeps with a connection.
package protocol ConnectionAttachment: AnyObject {
    /// The schema has changed, memory is short, or the connection closes: statements must not be kept.
    func connectionForgetsStatements()
}
