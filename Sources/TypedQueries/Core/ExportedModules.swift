// The names that both modules have, such as `Table`, are this module's for those who import this one only.
@_exported import CipherStore
