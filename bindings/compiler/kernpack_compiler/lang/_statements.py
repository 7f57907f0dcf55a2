"""Statements of a kernel or of a helper, rewritten to calls of the runtime that record them."""

# ruff: noqa: N802 - methods are named after the nodes that they visit
from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from kernpack_compiler.lang._expressions import Expressions
from kernpack_compiler.lang._scopes import (
    Scope,
    certain,
    changed_inside,
    list_names,
    mentioned,
)
from kernpack_compiler.lang._source import Source
from kernpack_compiler.lang._tree import at, function, load, runtime, store, text


class Statements(Expressions):
    """Rewrites the body of one function.

    A variable that keeps its value is a Python variable that holds an expression. One that a loop or a branch changes is a
    cell: local memory of one element. One that both branches of an `if` create is declared before the `if`.
    """

    def __init__(
        self, source: Source, values: Sequence[str], tensors: Sequence[str], *, dims: Sequence[str], is_kernel: bool
    ) -> None:
        self.body = copy.deepcopy(source.tree.body)
        super().__init__(source, Scope([*values, *dims], tensors, self.body))
        self._values, self._tensors, self._dims, self._is_kernel = values, tensors, dims, is_kernel
        self._rest: list[ast.stmt] = []  # what follows in the open block
        self._temporaries = 0
        self._last = self.body[-1]

    def rewritten(self) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        changing = changed_inside(self.body)
        for name in (name for name in self._values if name in changing):  # a parameter that loops change
            made.append(at(self.source.tree, ast.Assign([store(name)], runtime("cell", load(name), text(name)))))
            self.scope.set(name, "cell")
        return made + self.block(self.body)

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        outer = self._rest
        for index, statement in enumerate(statements):
            self._rest = statements[index + 1 :]
            got = self.visit(statement)
            made += got if isinstance(got, list) else [got]
        self._rest = outer
        return made or [ast.Pass()]

    def inside(self, statements: list[ast.stmt], what: str, counters: Sequence[str] = ()) -> list[ast.stmt]:
        """The block of a loop or a branch."""
        before = self.scope.enter()
        for name in counters:
            self.scope.set(name, "counter")
        made = self.block(statements)
        self.scope.leave(before, what)
        return made

    # Assignments

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        target = node.targets[0]
        if len(node.targets) == 1 and not isinstance(target, ast.Tuple | ast.List):
            return [self._assign(node, target, node.value)]
        made: list[ast.stmt] = []
        if len(node.targets) > 1:  # a = b = value
            kept = self._temporary()
            made.append(at(node, ast.Assign([store(kept)], runtime("let", self.expression(node.value), text("t")))))
            return made + [self._assign(node, each, at(node, load(kept)), done=True) for each in node.targets]
        assert isinstance(target, ast.Tuple | ast.List)
        names = [self._temporary() for _ in target.elts]
        said = [each.id if isinstance(each, ast.Name) else "t" for each in target.elts]
        values = runtime("unpack", self._together(node.value, said), *map(text, said))
        made.append(at(node, ast.Assign([ast.Tuple([store(name) for name in names], ast.Store())], values)))
        return made + [
            self._assign(node, each, at(node, load(name)), done=True)
            for each, name in zip(target.elts, names, strict=True)
        ]

    def _together(self, value: ast.expr, names: list[str]) -> ast.expr:
        if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(names):
            return self.expression(value)
        value.elts = [self._value(part, name, "nested") for part, name in zip(value.elts, names, strict=True)]
        return value

    def _value(self, value: ast.expr, name: str, word: str = "call") -> ast.expr:
        """The value of a variable, whose name memory gets."""
        return self.call(value, word, name) if isinstance(value, ast.Call) else self.expression(value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            self.refuse(node, "give the variable a value: a kernel has no declarations")
        if not isinstance(node.target, ast.Name):
            self.refuse(node, "the type of an element is that of its tensor: leave the annotation out")
        return self._assign(node, node.target, node.value, dtype=node.annotation)

    def _assign(
        self, node: ast.stmt, target: ast.expr, value: ast.expr, *, dtype: ast.expr | None = None, done: bool = False
    ) -> ast.stmt:
        """done: the value is rewritten already."""
        if isinstance(target, ast.Subscript):
            stored = value if done else self.expression(value)
            place = self.expression(target.value), self.expression(target.slice)
            return at(node, ast.Expr(runtime("store", *place, stored)))
        if isinstance(target, ast.Attribute):
            self.refuse(target, "an attribute: a kernel writes elements, out[i] = value, and variables")
        if not isinstance(target, ast.Name):
            self.refuse(target, "expected a variable or an element, such as out[i]")
        made = value if done else self._value(value, target.id)
        return self._name(node, target, made, dtype, done)

    def _name(
        self, node: ast.stmt, target: ast.Name, value: ast.expr, dtype: ast.expr | None, done: bool = False
    ) -> ast.stmt:
        self._may_assign(target)
        if self.scope.kind(target.id) == "cell":
            if dtype is not None:
                self.refuse(node, f"`{target.id}` has its type already: leave the annotation out")
            return at(node, ast.Assign([ast.Attribute(load(target.id), "value", ast.Store())], value))
        changes = target.id in changed_inside(self._rest)
        self.scope.set(target.id, "cell" if changes else "value")
        if done and not changes:
            return at(node, ast.Assign([target], value))
        types = [] if dtype is None else [dtype]
        return at(node, ast.Assign([target], runtime("cell" if changes else "let", value, text(target.id), *types)))

    def _may_assign(self, target: ast.Name) -> None:
        name = target.id
        if self.scope.kind(name) == "tensor":
            self.refuse(target, f"`{name}` is a tensor of the contract: write its elements, {name}[i] = value")
        if self.scope.kind(name) == "counter":
            self.refuse(target, f"`{name}` counts a loop, which can't change it: give the new value another name")
        if name in self._dims:
            self.refuse(target, f"`{name}` is a dim of the contract: give the variable another name")

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        target = node.target
        if isinstance(target, ast.Subscript):
            buffer, index = self.expression(target.value), self.expression(target.slice)
            old: ast.expr = at(target, runtime("load", buffer, index))
            return at(node, ast.Expr(runtime("store", buffer, index, self._operated(node, old))))
        if not isinstance(target, ast.Name):
            self.refuse(target, "an attribute: a kernel writes elements, out[i] = value, and variables")
        self._may_assign(target)
        read = self.visit_Name(at(target, load(target.id)))
        return self._name(node, target, self._operated(node, read), None)

    def _operated(self, node: ast.AugAssign, old: ast.expr) -> ast.expr:
        made = at(node, ast.BinOp(old, node.op, self.expression(node.value)))
        self.check_operator(made)
        return self.operation(made)

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"__kernpack_{self._temporaries}__"

    # Loops and branches

    def visit_For(self, node: ast.For) -> ast.stmt:
        if node.orelse:
            self.refuse(node.orelse[0], "`else` of a loop: write it after the loop")
        names = list(list_names(node.target))
        if not names:
            self.refuse(node.target, "expected a name for the loop's counter")
        self.counter(node.target)
        name = text(names[0] if isinstance(node.target, ast.Name) else None)
        if isinstance(node.iter, ast.Call):
            arguments = self.arguments(node.iter)
            head = runtime("loop", name, self.expression(node.iter.func), *arguments, keywords=node.iter.keywords)
        else:
            head = runtime("each", self.expression(node.iter))
        node.body = self.inside(node.body, f"the loop on line {node.lineno}", names)
        node.iter = at(node, head, end=node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        if node.orelse:
            self.refuse(node.orelse[0], "`else` of a loop: write it after the loop")
        head = at(node, runtime("repeat", function(self.expression(node.test))), end=node.test)
        body = self.inside(node.body, f"the loop on line {node.lineno}")
        return at(node, ast.For(store("__kernpack__"), head, body, []), end=node.test)

    def visit_Break(self, node: ast.Break) -> ast.stmt:
        return at(node, ast.Expr(runtime("jump", text("break"))))

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:
        return at(node, ast.Expr(runtime("jump", text("continue"))))

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        test, condition = self._temporary(), node.test
        made.append(at(node, ast.Assign([store(test)], runtime("truth", self.expression(node.test))), end=condition))
        both = certain(node.body) & certain(node.orelse)
        for name in sorted((both & mentioned(self._rest)) - {name for name in both if name in self.scope}):
            made.append(at(node, ast.Assign([store(name)], runtime("declare", text(name))), end=condition))
            self.scope.set(name, "cell")
        for word, statements in (("when", node.body), ("otherwise", node.orelse)):
            if statements:
                body = self.inside(statements, f"the branch of line {node.lineno}")
                loop = ast.For(store("__kernpack__"), runtime(word, load(test)), body, [])
                made.append(at(node, loop, end=condition))
        return made

    # Others

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.Constant):  # the docstring, or `...`
            return at(node, ast.Pass())
        node.value = self.call(node.value, "call") if isinstance(node.value, ast.Call) else self.expression(node.value)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        said = ast.unparse(node.test)
        if node.msg is not None:
            if not isinstance(node.msg, ast.Constant) or not isinstance(node.msg.value, str):
                self.refuse(node.msg, 'expected a text, as in assert n > 0, "n must be positive"')
            said = node.msg.value
        return at(node, ast.Expr(runtime("check", self.expression(node.test), text(said))))

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if self._is_kernel:
            self.refuse(node, "`return`: a kernel writes its results, out[i] = value; put what follows under an `if`")
        if node is not self._last:
            self.refuse(
                node, "`return` before the end of a helper: write one at its end, `return a if condition else b`"
            )
        if node.value is not None:
            node.value = self.expression(node.value)
        return node
