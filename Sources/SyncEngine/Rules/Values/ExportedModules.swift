// The identifiers and vectors of replicas are part of what transports and reports speak of.
@_exported import SyncWire
