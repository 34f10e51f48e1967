import { type Check, invalidRequest } from './check.ts'

export const singleValues: Check = ({ repeated: [name] }) =>
  name === undefined ? undefined : invalidRequest(`${name} is there more than once`)
