// Columns and joins of a statement with four other tables. There is a file for each number of tables, because the
// compiler can't call a closure whose parameters and results are both packs.
// One value or a tuple: the closure says which.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

extension Select where Columns == () {
    /// Selects an expression.
    @inlinable
    public func select<J1: Table, J2: Table, J3: Table, J4: Table, Value: QueryRepresentable>(
        _ selection: (From.TableColumns, J1.TableColumns, J2.TableColumns, J3.TableColumns, J4.TableColumns)
            -> some QueryExpression<Value>
    ) -> Select<Value, From, Joins> where Joins == Joined<J1, J2, J3, J4> {
        selecting(
            Value.self, selection(From.columns, J1.columns, J2.columns, J3.columns, J4.columns).queryFragment)
    }

    /// Selects expressions, which a tuple has.
    @inlinable
    public func select<J1: Table, J2: Table, J3: Table, J4: Table, each C: QueryExpression>(
        _ selection: (From.TableColumns, J1.TableColumns, J2.TableColumns, J3.TableColumns, J4.TableColumns)
            -> (repeat each C)
    ) -> Select<(repeat (each C).QueryValue), From, Joins>
    where Joins == Joined<J1, J2, J3, J4>, repeat (each C).QueryValue: QueryRepresentable {
        let terms = selection(From.columns, J1.columns, J2.columns, J3.columns, J4.columns)
        return selecting((repeat (each C).QueryValue).self, QueryFragment(list: repeat each terms))
    }
}
