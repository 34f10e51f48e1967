import { DOMException } from './dom-exception.ts'
import { defineGlobals } from './interface.ts'

/** Ahead of the other globals: the streams take `DOMException` from the global when they load. */
defineGlobals({ DOMException }, 'interface')
