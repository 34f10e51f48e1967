import { type ParameterCheck, invalidRequestError } from './check.ts'

export const singleValues: ParameterCheck = ({ repeated: [name] }) =>
  name === undefined ? undefined : invalidRequestError(`${name} is there more than once`)
