import { type ParameterCheck, invalidRequestError } from './check.ts'

/** With the rest of a request's head it stays under what servers and proxies let through. */
const MAX_LENGTH = 8192

export const boundedLength: ParameterCheck = ({ length }) =>
  length > MAX_LENGTH
    ? invalidRequestError(`The request is longer than ${MAX_LENGTH} characters`)
    : undefined
