import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'

import { ComponentSchemas } from './component-schemas.ts'
import { type OperationObject, openApiDocument } from './document.ts'
import { errorResponses } from './error-responses.ts'

const INFO = { title: 'Shop', description: 'What a shop does', version: '1.2.3' }
const Pet = Type.Object({ name: Type.String() }, { title: 'Pet' })

const operation = (operationId: string): OperationObject => ({
  operationId,
  tags: ['pets'],
  security: [{}],
  responses: {},
})

describe('the schemas of a document', () => {
  test('are named by their title, and referred to', () => {
    const schemas = new ComponentSchemas()
    expect(schemas.of(Type.Array(Pet), 'response')).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/Pet' },
    })
    expect(schemas.of(Pet, 'response')).toEqual({ $ref: '#/components/schemas/Pet' })
    expect(schemas.entries()).toEqual({
      Pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    })
  })

  test('are closed where a client sends them, whether or not they say so', () => {
    const inner = Type.Object({ a: Type.Object({}), b: Type.Optional(Type.Null()) })
    const closed = { ...inner, additionalProperties: false }
    const open = { ...inner, additionalProperties: true }
    const schemas = new ComponentSchemas()
    for (const schema of [inner, closed]) {
      expect(schemas.of(schema, 'response')).not.toHaveProperty('additionalProperties')
      expect(schemas.of(schema, 'request')).toMatchObject({
        additionalProperties: false,
        properties: { a: { type: 'object', properties: {} } },
      })
    }
    expect(schemas.of(open, 'response')).toHaveProperty('additionalProperties', true)
    expect(schemas.of(open, 'request')).toHaveProperty('additionalProperties', true)
  })

  test('have one name each', () => {
    const schemas = new ComponentSchemas()
    schemas.of(Pet, 'response')
    expect(() => schemas.of(Type.Object({}, { title: 'Pet' }), 'response')).toThrow(
      /Two schemas .* "Pet"/,
    )
    expect(() => schemas.add('../Pet', {})).toThrow(/no name/)
  })
})

describe('the errors of an operation', () => {
  test('are listed by status, in one form', () => {
    const schemas = new ComponentSchemas()
    const responses = errorResponses(schemas, ['UserNotFound', 'Forbidden', 'SiteNotFound'])
    expect(Object.keys(responses)).toEqual(['403', '404', 'default'])
    expect(responses['404']).toEqual({
      description: '`SiteNotFound`, `UserNotFound`',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    })
  })

  test('say that they are none of the results where results have an envelope', () => {
    const schemas = new ComponentSchemas()
    errorResponses(schemas, [], 'envelope')
    expect(schemas.entries()['FailedCall']).toMatchObject({ required: ['ok', 'error'] })
  })
})

describe('an OpenAPI document', () => {
  test('has its paths in order', () => {
    const schemas = new ComponentSchemas()
    const operations = [
      { method: 'POST', path: '/b', operation: operation('createB') },
      { method: 'GET', path: '/b', operation: operation('listB') },
      { method: 'GET', path: '/a', operation: operation('listA') },
    ]
    const document = openApiDocument({ info: INFO, operations, schemas, securitySchemes: {} })
    expect(Object.keys(document.paths)).toEqual(['/a', '/b'])
    expect(Object.keys(document.paths['/b'] ?? {})).toEqual(['get', 'post'])
    expect(document).toMatchObject({ openapi: '3.1.1', info: INFO, tags: [{ name: 'pets' }] })
  })

  test.each([
    ['id', { method: 'GET', path: '/b' }, /have the id "listA"/],
    ['place', { method: 'get', path: '/a' }, /are get \/a/],
  ])('has one operation for each %s', (what, place, error) => {
    const schemas = new ComponentSchemas()
    const operations = [
      { method: 'GET', path: '/a', operation: operation('listA') },
      { ...place, operation: operation(what === 'id' ? 'listA' : 'other') },
    ]
    const parts = { info: INFO, operations, schemas, securitySchemes: {} }
    expect(() => openApiDocument(parts)).toThrow(error)
  })
})
