/** Functions that are conditions by themselves, with the number of their operands. */
export const PREDICATES = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
} as const
export type PredicateName = keyof typeof PREDICATES

/** The function of conditions that gives a number. */
export const SIZE = 'size'

/** Functions that give the value of a SET action, with the number of their operands. */
export const UPDATE_FUNCTIONS = { if_not_exists: 2, list_append: 2 } as const
export type UpdateFunctionName = keyof typeof UPDATE_FUNCTIONS

export const isPredicateName = (name: string): name is PredicateName =>
  Object.hasOwn(PREDICATES, name)

export const isUpdateFunctionName = (name: string): name is UpdateFunctionName =>
  Object.hasOwn(UPDATE_FUNCTIONS, name)
