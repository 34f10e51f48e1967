/** What is wrong with an expression; the parameter that carries the expression is named by its caller. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionFault'
}
