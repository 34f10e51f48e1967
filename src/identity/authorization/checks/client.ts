import { type ParameterCheck, invalidRequestError, authorizationError } from './check.ts'

export const knownClient: ParameterCheck = ({ client, values, repeated }) => {
  if (repeated.includes('client_id'))
    return invalidRequestError('client_id is there more than once')
  if (!values.has('client_id')) return invalidRequestError('client_id is missing')
  return client ? undefined : authorizationError('invalid_client', 'There is no such client here')
}
