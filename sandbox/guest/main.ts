import './web/globals.ts'
import './runtime.ts'
