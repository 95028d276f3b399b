// The measure of `hooks run`: what it is given, in a file that is on the disk. Argument: folder.
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const event = JSON.parse(readFileSync(0, 'utf8'))
const file = openSync(join(process.argv[2], `${process.pid}.json`), 'w')
writeSync(file, JSON.stringify(event))
fsyncSync(file)
closeSync(file)
