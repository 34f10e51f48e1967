import { request } from 'node:http'
import { crc32 } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type DynamoDbWire, startDynamoDbWire } from '#test/dynamodb-wire.ts'
import { openDatabase } from '#test/postgres.ts'

const SIGNED = {
  authorization: 'AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=a',
  'x-amz-date': '20260101T000000Z',
}
const JSON_TYPE = 'application/x-amz-json-1.0'
const CORAL = 'com.amazon.coral.service#'

const running = new AsyncDisposableStack()
const faults: unknown[] = []
let wire: DynamoDbWire

beforeAll(async () => {
  const { database, ...rest } = await openDatabase()
  running.use(rest)
  wire = running.use(await startDynamoDbWire({ database, onFault: (fault) => faults.push(fault) }))
})

afterAll(async () => {
  await running.disposeAsync()
})

interface Received {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

function send({ method = 'POST', path = '/', headers = {}, body = '' }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, wire.endpoint), { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function call(action: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = {
    ...SIGNED,
    'content-type': JSON_TYPE,
    'x-amz-target': `DynamoDB_20120810.${action}`,
  }
  const { text } = await send({ headers, body: JSON.stringify(body) })
  return JSON.parse(text)
}

describe('the endpoint', () => {
  const target = { 'x-amz-target': 'DynamoDB_20120810.ListTables' }

  test.each<[string, Sent, object]>([
    [
      'a body that is no JSON',
      { headers: { 'content-type': JSON_TYPE }, body: 'hi' },
      { __type: `${CORAL}SerializationException` },
    ],
    [
      'a body that is a list',
      { headers: { 'content-type': JSON_TYPE }, body: '[]' },
      { __type: `${CORAL}SerializationException` },
    ],
    ['no target', {}, { __type: `${CORAL}UnknownOperationException` }],
    [
      'an action that is none',
      { headers: { 'x-amz-target': 'DynamoDB_20120810.ListTable' } },
      { __type: `${CORAL}UnknownOperationException` },
    ],
    [
      'no signature',
      { headers: target },
      {
        __type: `${CORAL}MissingAuthenticationTokenException`,
        message: 'Request is missing Authentication Token',
      },
    ],
    [
      'a signature of nothing',
      { headers: { ...target, authorization: 'AWS4-' } },
      {
        __type: `${CORAL}IncompleteSignatureException`,
        message:
          "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. " +
          "Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a " +
          "'X-Amz-Date' or a 'Date' header. Authorization=AWS4-",
      },
    ],
    [
      'half a signature in the query',
      { headers: target, path: '/?X-Amz-Algorithm=a&X-Amz-Credential=b' },
      {
        __type: `${CORAL}IncompleteSignatureException`,
        message:
          "AWS query-string parameters must include 'X-Amz-Signature'. AWS query-string parameters must include " +
          "'X-Amz-SignedHeaders'. AWS query-string parameters must include 'X-Amz-Date'. Re-examine the query-string parameters.",
      },
    ],
    [
      'two signatures',
      { headers: { ...target, ...SIGNED }, path: '/?X-Amz-Algorithm=a' },
      {
        __type: `${CORAL}InvalidSignatureException`,
        message:
          "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
      },
    ],
    [
      'a signature without a body',
      { headers: { ...target, ...SIGNED } },
      { __type: `${CORAL}SerializationException` },
    ],
  ])('refuses %s', async (_name, sent, body) => {
    const { status, headers, text } = await send(sent)
    expect([status, JSON.parse(text)]).toEqual([400, body])
    expect(headers).toMatchObject({
      'x-amz-crc32': String(crc32(text)),
      'content-length': String(Buffer.byteLength(text)),
      'content-type': sent.headers?.['content-type'] ?? 'application/json',
      'x-amzn-requestid': expect.stringMatching(/^[0-9A-Z]{52}$/),
    })
  })

  test.each(['PUT', 'DELETE', 'OPTIONS'])('knows no %s', async (method) => {
    const { status, text, headers } = await send({ method })
    expect([status, text]).toEqual([404, '<UnknownOperationException/>\n'])
    expect(headers['x-amz-crc32']).toBe('3552371480')
  })

  test('reads no other content type', async () => {
    const { status } = await send({ headers: { 'content-type': 'text/plain' }, body: '{}' })
    expect(status).toBe(404)
  })

  test('says that it is healthy', async () => {
    const { status, text } = await send({ method: 'GET' })
    expect([status, text]).toEqual([200, 'healthy: dynamodb.us-east-1.amazonaws.com '])
  })

  test('lets browsers in', async () => {
    const { status, headers } = await send({
      method: 'OPTIONS',
      headers: { origin: 'http://a.test', 'access-control-request-headers': 'a, b' },
    })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'a, b',
      'access-control-max-age': '172800',
    })
  })
})

describe('a request of the wrong shape', () => {
  const serialization = (Message: string) => ({
    __type: `${CORAL}SerializationException`,
    Message,
  })
  const validation = (message: string) => ({
    __type: 'com.amazon.coral.validate#ValidationException',
    message,
  })
  const key = { a: { S: 'a' } }

  test.each<[string, object, object]>([
    ['GetItem', { TableName: 23 }, serialization('NUMBER_VALUE cannot be converted to String')],
    [
      'GetItem',
      { TableName: {} },
      serialization('Start of structure or map found where not expected'),
    ],
    [
      'GetItem',
      { TableName: [] },
      serialization('Unrecognized collection type class java.lang.String'),
    ],
    ['GetItem', { Key: 'a' }, serialization('Unexpected field type')],
    [
      'GetItem',
      { Key: [] },
      serialization(
        'Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>',
      ),
    ],
    ['GetItem', { Key: { a: 'a' } }, serialization('Unexpected value type in payload')],
    [
      'GetItem',
      { Key: { a: { S: true } } },
      serialization('TRUE_VALUE cannot be converted to String'),
    ],
    [
      'GetItem',
      { Key: { a: { B: 'abc' } } },
      serialization('Base64 encoded length is expected a multiple of 4 bytes but found: 3'),
    ],
    [
      'GetItem',
      { ConsistentRead: 'maybe' },
      serialization('Unexpected token received from parser'),
    ],
    ['Query', { Limit: '1' }, serialization('STRING_VALUE cannot be converted to Integer')],
    [
      'GetItem',
      {},
      validation(
        "2 validation errors detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null; " +
          "Value null at 'key' failed to satisfy constraint: Member must not be null",
      ),
    ],
    [
      'PutItem',
      { TableName: 'abc', Item: key, ReturnValues: 'hi', ReturnConsumedCapacity: 'hi' },
      validation(
        "2 validation errors detected: Value 'hi' at 'returnConsumedCapacity' failed to satisfy constraint: " +
          "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; Value 'hi' at 'returnValues' failed to satisfy constraint: " +
          'Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]',
      ),
    ],
    [
      'DescribeTable',
      { TableName: 'a' },
      validation('TableName must be at least 3 characters long and at most 255 characters long'),
    ],
    [
      'DescribeTable',
      {},
      validation("The parameter 'TableName' is required but was not present in the request"),
    ],
    [
      'GetItem',
      { TableName: 'abc', Key: key, AttributesToGet: ['a'], ProjectionExpression: 'a' },
      validation(
        'Can not use both expression and non-expression parameters in the same request: ' +
          'Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}',
      ),
    ],
    [
      'PutItem',
      { TableName: 'abc', Item: key, Expected: { a: { Exists: true } } },
      validation(
        'One or more parameter values were invalid: Value must be provided when Exists is true for Attribute: a',
      ),
    ],
    [
      'UpdateItem',
      { TableName: 'abc', Key: key, AttributeUpdates: { b: { Action: 'ADD', Value: { S: 'a' } } } },
      validation(
        'One or more parameter values were invalid: ADD action is not supported for the type S',
      ),
    ],
    [
      'UpdateItem',
      { TableName: 'abc', Key: key, AttributeUpdates: { b: { Action: 'SET', Value: { S: 'a' } } } },
      validation(
        "1 validation error detected: Value 'SET' at 'attributeUpdates.b.member.action' failed to satisfy constraint: " +
          'Member must satisfy enum value set: [ADD, PUT, DELETE]',
      ),
    ],
    [
      'Query',
      {
        TableName: 'abc',
        KeyConditions: { a: { ComparisonOperator: 'BETWEEN', AttributeValueList: [{ S: 'a' }] } },
      },
      validation(
        'One or more parameter values were invalid: Invalid number of argument(s) for the BETWEEN ComparisonOperator',
      ),
    ],
    [
      'Scan',
      { TableName: 'abc', Segment: 2, TotalSegments: 2 },
      validation(
        'The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 2 is not less than TotalSegments: 2',
      ),
    ],
    [
      'GetItem',
      { TableName: 'abc', Key: key },
      {
        __type: 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException',
        message: 'Requested resource not found',
      },
    ],
  ])('%s %j', async (action, body, expected) => {
    await expect(call(action, body)).resolves.toEqual(expected)
  })
})

test('no request made it fail', () => {
  expect(faults).toEqual([])
})
