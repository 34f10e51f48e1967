import { checkArity, checkPredicate, checkSizes } from './condition-rules.ts'
import type { Condition, Operand, Predicate } from './condition.ts'
import type { DocumentPath } from './document-path.ts'
import { ExpressionError } from './expression-error.ts'
import { isPredicateName, PREDICATES } from './functions.ts'
import type { Substitutions } from './substitutions.ts'
import type { CallNode, ConditionNode, OperandNode, PredicateNode } from './syntax.ts'

export interface BoundCondition {
  readonly condition: Condition
  /** Every path that the condition reads. */
  readonly paths: readonly DocumentPath[]
}

/** Puts names and values into a parsed condition and checks what only they show. */
export function bindCondition(node: ConditionNode, substitutions: Substitutions): BoundCondition {
  const binder = new ConditionBinder(substitutions)
  return { condition: binder.bind(node), paths: binder.paths }
}

class ConditionBinder {
  readonly paths: DocumentPath[] = []
  readonly #substitutions: Substitutions

  constructor(substitutions: Substitutions) {
    this.#substitutions = substitutions
  }

  bind(node: ConditionNode): Condition {
    if (node.kind === 'not') return { kind: 'not', condition: this.bind(node.condition) }
    if (node.kind !== 'and' && node.kind !== 'or') return this.#predicate(node)
    return { kind: node.kind, conditions: node.conditions.map((each) => this.bind(each)) }
  }

  #predicate(node: PredicateNode): Predicate {
    this.#resolve(operandsOf(node))
    checkCalls(node)
    const predicate = this.#build(node)
    checkPredicate(predicate)
    return predicate
  }

  /** What is not defined is reported before anything else of the same predicate. */
  #resolve(nodes: readonly OperandNode[]): void {
    for (const node of nodes) {
      if (node.kind === 'call') this.#resolve(node.args)
      else if (node.kind === 'value') this.#substitutions.value(node.name)
      else this.paths.push(this.#substitutions.path(node))
    }
  }

  #build(node: PredicateNode): Predicate {
    switch (node.kind) {
      case 'comparison': {
        const [left, right] = node.operands
        const operands = [this.#operand(left), this.#operand(right)] as const
        return { kind: 'comparison', operator: node.operator, operands }
      }
      case 'between': {
        const [operand, lower, upper] = node.operands
        const operands = [
          this.#operand(operand),
          this.#operand(lower),
          this.#operand(upper),
        ] as const
        return { kind: 'between', operands }
      }
      case 'in': {
        const [operand, ...candidates] = node.operands.map((each) => this.#operand(each))
        if (operand === undefined) throw new ExpressionError('IN without an operand')
        return { kind: 'in', operand, candidates }
      }
      case 'call':
        return {
          kind: 'call',
          name: predicateOf(node),
          operands: node.args.map((each) => this.#operand(each)),
        }
      default:
        return node satisfies never
    }
  }

  #operand(node: OperandNode): Operand {
    if (node.kind === 'path') return { kind: 'path', path: this.#substitutions.path(node) }
    if (node.kind === 'value') return { kind: 'value', value: this.#substitutions.value(node.name) }
    const [argument] = node.args
    if (argument === undefined) throw new ExpressionError('size without an operand')
    return { kind: 'size', operand: this.#operand(argument) }
  }
}

const operandsOf = (node: PredicateNode): readonly OperandNode[] =>
  node.kind === 'call' ? node.args : node.operands

function checkCalls(node: PredicateNode): void {
  for (const operand of operandsOf(node)) checkSizes(operand)
  if (node.kind === 'call') checkArity(node, PREDICATES[predicateOf(node)])
}

function predicateOf(node: CallNode): keyof typeof PREDICATES {
  if (isPredicateName(node.name)) return node.name
  throw new ExpressionError(`Invalid function name; function: ${node.name}`)
}
