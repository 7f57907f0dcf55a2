"""Expressions of a kernel, rewritten to calls of the runtime."""

from __future__ import annotations

import ast
from typing import NoReturn

from kernpack_compiler.lang._refusals import PLAIN, REFUSED, refusal
from kernpack_compiler.lang._scopes import Scope, list_names
from kernpack_compiler.lang._source import Source
from kernpack_compiler.lang._tree import at, function, load, runtime, text


class Expressions(ast.NodeTransformer):
    """Rewrites expressions in place; each keeps its place in the author's file."""

    def __init__(self, source: Source, scope: Scope) -> None:
        self.source, self.scope = source, scope

    def refuse(self, node: ast.AST, message: str, end: ast.AST | None = None) -> NoReturn:
        raise self.source.error(node, message, end)

    def expression(self, node: ast.expr) -> ast.expr:
        made: ast.expr = self.visit(node)
        return made

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, PLAIN):
            self.refuse(node, refusal(node))
        return super().generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str | bytes):
            self.refuse(node, "a text: a kernel has numbers and tensors only")
        if isinstance(node.value, complex):
            self.refuse(node, "a complex number: write its real and imaginary parts as two tensors")
        if node.value is Ellipsis:
            self.refuse(node, REFUSED[ast.Slice].replace("a slice", "`...`"))
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        why = self.scope.why_not(node.id)
        if why is not None:
            self.refuse(node, why)
        if self.scope.kind(node.id) == "cell":
            return at(node, ast.Attribute(load(node.id), "value", ast.Load()))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return at(node, runtime("attribute", self.expression(node.value), text(node.attr)))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return at(node, runtime("load", self.expression(node.value), self.expression(node.slice)))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        then, otherwise = function(self.expression(node.body)), function(self.expression(node.orelse))
        return at(node, runtime("choose", self.expression(node.test), then, otherwise))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        first, *rest = [self.expression(value) for value in node.values]
        word = "both" if isinstance(node.op, ast.And) else "either"
        return at(node, runtime(word, first, *(function(value) for value in rest)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return at(node, runtime("negate", self.expression(node.operand)))
        node.operand = self.expression(node.operand)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.check_operator(node)
        node.left, node.right = self.expression(node.left), self.expression(node.right)
        return self.operation(node)

    def check_operator(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult):
            self.refuse(node, REFUSED[ast.MatMult])

    @staticmethod
    def operation(node: ast.BinOp) -> ast.expr:
        """An operation whose sides are rewritten already."""
        return at(node, runtime("power", node.left, node.right)) if isinstance(node.op, ast.Pow) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        for op in node.ops:
            if type(op) in REFUSED:
                self.refuse(node, REFUSED[type(op)])
        first, second, *rest = [self.expression(side) for side in (node.left, *node.comparators)]
        if not rest:
            node.left, node.comparators = first, [second]
            return node
        ops = ast.Tuple([text(type(op).__name__) for op in node.ops], ast.Load())
        return at(node, runtime("chain", ops, first, second, *(function(side) for side in rest)))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return self.call(node, "nested")

    def call(self, node: ast.Call, word: str, name: str | None = None) -> ast.expr:
        """word: `call`, or `nested` inside an expression. name: of the variable that gets the value."""
        if node.args and isinstance(node.args[0], ast.GeneratorExp):
            return self._fold(node, node.args[0])
        function_ = self.expression(node.func)
        return at(node, runtime(word, text(name), function_, *self.arguments(node), keywords=node.keywords))

    def arguments(self, node: ast.Call) -> list[ast.expr]:
        """Rewrites the arguments of a call, the keywords in place. Words such as "masked" stay."""
        for keyword in node.keywords:
            if keyword.arg is None:
                self.refuse(keyword, "`**`: write the arguments one by one")
            if not isinstance(keyword.value, ast.Constant):
                keyword.value = self.expression(keyword.value)
        return [self.expression(value) for value in node.args]

    def _fold(self, node: ast.Call, generator: ast.GeneratorExp) -> ast.expr:
        """sum(e for i in range(n) if c for j in range(m)): axes inside each other, each a function of its counter."""
        func = self.expression(node.func)
        if node.keywords:
            self.refuse(
                node.keywords[0], "the function takes a generator and a first value, as sum(x[j] for j in range(D))"
            )
        extra = [self.expression(value) for value in node.args[1:]]
        before = self.scope.enter()
        heads = []
        for axis in generator.generators:
            heads.append((axis, self._head(axis), [self.expression(test) for test in axis.ifs]))
        value: ast.expr = at(generator.elt, runtime("element", self.expression(generator.elt)))
        for axis, (func_, bounds), tests in reversed(heads):
            for test in reversed(tests):
                value = at(test, runtime("only", test, function(value)))
            name = next(list_names(axis.target))
            value = at(axis.iter, runtime("axis", text(name), function(value, name), func_, *bounds))
        self.scope.leave(before, f"the generator on line {generator.lineno}")
        return at(node, runtime("fold", func, function(value), *extra))

    def _head(self, axis: ast.comprehension) -> tuple[ast.expr, list[ast.expr]]:
        if not isinstance(axis.target, ast.Name) or not isinstance(axis.iter, ast.Call):
            self.refuse(axis.target, "expected `for j in range(n)` in a generator", axis.iter)
        if axis.is_async:
            self.refuse(axis.target, REFUSED[ast.AsyncFor])
        if axis.iter.keywords:
            self.refuse(axis.iter, "range() takes numbers only")
        self.counter(axis.target)
        del axis.iter.keywords[:]
        head = self.expression(axis.iter.func), self.arguments(axis.iter)
        self.scope.set(axis.target.id, "counter")
        return head

    def counter(self, target: ast.expr) -> None:
        """Checks the names of a loop, which must be new."""
        for name in list_names(target):
            if name in self.scope:
                self.refuse(target, f"`{name}` has a value already: give this loop another name")
