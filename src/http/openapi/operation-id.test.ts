import { describe, expect, test } from 'vitest'

import { operationId, operationTag } from './operation-id.ts'

describe('the id of an operation', () => {
  test.each([
    ['GET', '/admin/api/mailboxes', 'listMailboxes'],
    ['POST', '/admin/api/mailboxes', 'createMailbox'],
    ['GET', '/portal/api/sites/:siteId/mailboxes/:address', 'getMailbox'],
    ['PATCH', '/admin/api/mailboxes/:address', 'updateMailbox'],
    ['POST', '/admin/api/mailboxes/:address/purge', 'purgeMailbox'],
    ['GET', '/admin/api/mailboxes/:address/settings', 'getMailboxSettings'],
    ['POST', '/admin/api/messages/purge-all', 'purgeAllMessages'],
    ['POST', '/admin/api/messages/:messageId/seen', 'markMessageSeen'],
    ['DELETE', '/admin/api/aliases/:address', 'deleteAlias'],
    ['GET', '/admin/data/users/:sub', 'getVisitor'],
    ['POST', '/portal/api/sites/:siteId/users/:sub/sign-out', 'signOutVisitor'],
    ['GET', '/portal/api/sites/:siteId/admin-users', 'listAdminUsers'],
    ['GET', '/admin/api/users', 'listUsers'],
    ['POST', '/admin/data/resources/:resourceId/data/ddb/batch-get', 'batchGetResourceDdb'],
    ['POST', '/admin/data/resources/:resourceId/data/s3/list-objects', 'listObjectsResourceS3'],
    ['POST', '/admin/data/reconcile', 'reconcileSite'],
    ['POST', '/portal/api/sites/:siteId/export', 'exportSite'],
    ['GET', '/portal/api/sites', 'listSites'],
    ['DELETE', '/portal/api/sites/:siteId', 'deleteSite'],
    ['GET', '/portal/api/diagnosis', 'getDiagnosis'],
    ['GET', '/admin/openapi.json', 'getOpenapiJson'],
  ])('%s %s is %s', (method, path, id) => {
    expect(operationId(method, path)).toBe(id)
  })
})

test('the tag of an operation is the part of the site that it is about', () => {
  expect(operationTag('/admin/api/mailboxes/:address/purge')).toBe('mailboxes')
  expect(operationTag('/portal/api/sites/:siteId/mailboxes')).toBe('mailboxes')
  expect(operationTag('/portal/api/sites/:siteId')).toBe('sites')
})
