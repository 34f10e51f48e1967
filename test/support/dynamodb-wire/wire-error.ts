/** The services that DynamoDB names before the `#` of an error's type. */
const SERVICES = {
  coral: 'com.amazon.coral.service',
  validate: 'com.amazon.coral.validate',
  dynamodb: 'com.amazonaws.dynamodb.v20120810',
} as const

/** An error as DynamoDB sends it: the body is all that a client sees. */
export class WireError extends Error {
  readonly body: Readonly<Record<string, unknown>>

  constructor(type: string, body: Readonly<Record<string, unknown>> = {}) {
    super(`${type}: ${JSON.stringify(body)}`)
    this.body = { __type: type, ...body }
  }
}

export const coralError = (name: string, message?: string): WireError =>
  new WireError(`${SERVICES.coral}#${name}`, message === undefined ? {} : { message })

/** Spelt with a capital, as DynamoDB does for these alone. */
export const serializationFault = (message: string): WireError =>
  new WireError(`${SERVICES.coral}#SerializationException`, { Message: message })

export const accessDenied = (message: string): WireError =>
  new WireError(`${SERVICES.coral}#AccessDeniedException`, { Message: message })

export const validationFault = (message: string): WireError =>
  new WireError(`${SERVICES.validate}#ValidationException`, { message })

export const dynamoError = (
  name: string,
  message: string,
  fields: Readonly<Record<string, unknown>> = {},
): WireError => new WireError(`${SERVICES.dynamodb}#${name}`, { message, ...fields })
