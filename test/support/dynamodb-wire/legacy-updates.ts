import { typeOf } from '#runtime/tables/items/attribute-value.ts'

import type { Placeholders } from './placeholders.ts'
import { validationFault } from './wire-error.ts'
import { readWireValue } from './wire-value.ts'

interface AttributeUpdate {
  readonly Action?: string
  readonly Value?: unknown
}
export type AttributeUpdates = Readonly<Record<string, AttributeUpdate>>

const INVALID = 'One or more parameter values were invalid: '
const SETS = ['SS', 'NS', 'BS']
const ADDED = ['L', ...SETS, 'N']

export function checkUpdates(updates: AttributeUpdates = {}): void {
  for (const { Action: action, Value: given } of Object.values(updates)) {
    const value = given === undefined ? undefined : readWireValue(given)
    if (value === undefined) {
      if (action === 'DELETE') continue
      throw validationFault(
        `${INVALID}Only DELETE action is allowed when no attribute value is specified`,
      )
    }
    const type = typeOf(value)
    if (action === 'DELETE' && !SETS.includes(type)) {
      throw validationFault(
        `${INVALID}DELETE action with value is not supported for the type ${type}`,
      )
    }
    if (action === 'ADD' && !ADDED.includes(type)) {
      throw validationFault(`${INVALID}ADD action is not supported for the type ${type}`)
    }
  }
}

/** The same as an expression; undefined when nothing is to change. */
export function updateExpression(
  updates: AttributeUpdates,
  placeholders: Placeholders,
): string | undefined {
  const sections = new Map<string, string[]>()
  for (const [name, update] of Object.entries(updates)) {
    const [section, action] = actionOf(placeholders.name(name), update, placeholders)
    sections.set(section, [...(sections.get(section) ?? []), action])
  }
  const texts = [...sections].map(([section, actions]) => `${section} ${actions.join(', ')}`)
  return texts.length === 0 ? undefined : texts.join(' ')
}

function actionOf(
  attribute: string,
  { Action: action, Value: value }: AttributeUpdate,
  placeholders: Placeholders,
): [section: string, action: string] {
  if (action === 'DELETE' && value === undefined) return ['REMOVE', attribute]
  const given = placeholders.value(value)
  if (action === 'DELETE') return ['DELETE', `${attribute} ${given}`]
  if (action !== 'ADD') return ['SET', `${attribute} = ${given}`]
  if (!('L' in readWireValue(value))) return ['ADD', `${attribute} ${given}`]
  const empty = placeholders.value({ L: [] })
  return ['SET', `${attribute} = list_append(if_not_exists(${attribute}, ${empty}), ${given})`]
}
