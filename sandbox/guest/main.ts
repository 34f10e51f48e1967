import './web/globals.ts'
import './runtime/runtime.ts'
