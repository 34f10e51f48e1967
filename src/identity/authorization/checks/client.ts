import { type Check, invalidRequest, refused } from './check.ts'

export const knownClient: Check = ({ client, values, repeated }) => {
  if (repeated.includes('client_id')) return invalidRequest('client_id is there more than once')
  if (!values.has('client_id')) return invalidRequest('client_id is missing')
  return client ? undefined : refused('invalid_client', 'There is no such client here')
}
