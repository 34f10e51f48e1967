import { describe, expect, test } from 'vitest'

import { type SiteSource, type SourceInput, artifactDirectoryOf, parseSource } from './source.ts'

const RULES = { allowFileUrls: false }
const repo = { url: 'https://git.example/ann/shop.git', branch: 'main', artifactDirectory: 'dist' }
const external: SiteSource = { sourceMode: 'EXTERNAL_REPO', repo, repoBinding: null }

const fresh = (input: SourceInput) => parseSource(input, undefined, RULES)

describe('a site’s source', () => {
  test('is the service’s own git by default', () => {
    expect(fresh({})).toEqual({
      sourceMode: 'SITE_GIT',
      repo: null,
      repoBinding: { branch: 'main', artifactDirectory: 'dist' },
    })
  })

  test('is an external repository when one is given', () => {
    expect(fresh({ repo: { url: repo.url, artifactDirectory: './dist/' } })).toEqual(external)
  })

  test('keeps what a change leaves out', () => {
    const changed = parseSource({ repo: { branch: 'next' } }, external, RULES)
    expect(changed.repo).toEqual({ ...repo, branch: 'next' })
  })

  test('can change its mode', () => {
    const changed = parseSource({ sourceMode: 'SITE_GIT' }, external, RULES)
    expect(changed.repo).toBeNull()
    expect(artifactDirectoryOf(changed)).toEqual({
      field: 'repoBinding.artifactDirectory',
      directory: 'dist',
    })
  })

  test.each([
    'ssh://git@git.example/ann/shop.git',
    'git@git.example:ann/shop.git',
    'git://git.example/ann/shop.git',
  ])('may be at %s', (url) => {
    expect(fresh({ repo: { url } }).repo?.url).toBe(url)
  })

  test.each<[string, SourceInput, string]>([
    ['both parts', { sourceMode: 'EXTERNAL_REPO', repo, repoBinding: {} }, 'repoBinding: does not'],
    ['the other mode’s part', { sourceMode: 'SITE_GIT', repo }, 'repo: does not belong'],
    ['a mode without its part', { sourceMode: 'EXTERNAL_REPO' }, 'repo.url: is missing'],
    ['a plain connection', { repo: { url: 'http://git.example/x' } }, '"http:" is not allowed'],
    ['a file URL', { repo: { url: 'file:///etc' } }, 'repo.url: "file:" is not allowed'],
    ['a remote helper', { repo: { url: 'ext::sh -c id' } }, 'repo.url: "ext:" is not allowed'],
    ['a plain path', { repo: { url: '/srv/git' } }, 'repo.url: is not an address'],
    ['an option', { repo: { url: '--upload-pack=id' } }, 'repo.url: is not an address'],
    ['a password', { repo: { url: 'https://a:b@git.example/x' } }, 'repo.url: carries credentials'],
    ['a token', { repo: { url: 'https://tok@git.example/x' } }, 'repo.url: carries credentials'],
    ['an option as branch', { repoBinding: { branch: '--all' } }, 'repoBinding.branch: "--all"'],
    ['a branch with ..', { repoBinding: { branch: 'a..b' } }, 'repoBinding.branch'],
    ['a branch with a space', { repoBinding: { branch: 'a b' } }, 'repoBinding.branch'],
    [
      'a climbing directory',
      { repoBinding: { artifactDirectory: '../x' } },
      'repoBinding.artifact',
    ],
    ['an absolute directory', { repo: { ...repo, artifactDirectory: '/x' } }, 'repo.artifactDirec'],
  ])('refuses %s', (_what, input, message) => {
    expect(() => fresh(input)).toThrow(message)
  })

  test('may be a file URL where the operator allows it', () => {
    const input = { repo: { url: 'file:///srv/shop.git' } }
    expect(parseSource(input, undefined, { allowFileUrls: true }).repo?.url).toBe(input.repo.url)
  })
})
