import { describe, expect, test } from 'vitest'

import { declarationsOf } from './style-declarations.ts'

describe('the declarations of a style', () => {
  test.each([
    ['color:red', { color: 'red' }],
    [' COLOR : Red ; width:1px;', { color: 'Red', width: '1px' }],
    ['color:red;color:blue', { color: 'blue' }],
    ['color:red !important;color:blue', { color: 'red' }],
    ['color:red!IMPORTANT;color:blue ! important', { color: 'blue' }],
    ['background:url(a;b:c);color:red', { background: 'url(a;b:c)', color: 'red' }],
    ['background:url("a);b");color:red', { background: 'url("a);b")', color: 'red' }],
    ['/* color:red; */width:1px/* ; */', { width: '1px' }],
    ['width:1px;/* color:red', { width: '1px' }],
    [';;color;:red;=;1:2', {}],
    ['c\\olor:red', {}],
    ['', {}],
  ])('in %j', (style, expected) => {
    expect(Object.fromEntries(declarationsOf(style))).toEqual(expected)
  })
})
