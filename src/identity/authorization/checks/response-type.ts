import { type Check, invalidRequest, refused } from './check.ts'

export const codeResponse: Check = ({ values }) => {
  const type = values.get('response_type')
  if (type === undefined) return invalidRequest('response_type is missing')
  return type === 'code'
    ? undefined
    : refused('unsupported_response_type', 'response_type must be "code"')
}
