import { type Check, refused } from './check.ts'

export const queryResponse: Check = ({ values }) =>
  (values.get('response_mode') ?? 'query') === 'query'
    ? undefined
    : refused('unsupported_response_mode', 'response_mode must be "query", or be left out')
