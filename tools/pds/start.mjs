// A Bluesky server on loopback: node start.mjs plc PORT, or node start.mjs pds PORT FOLDER PLC_PORT
//
// The directory of names (PLC) lives in memory; the server (PDS) keeps all in FOLDER, so that it
// can be killed and started again. Prints `ready` once it answers. For tests only: its secrets
// stand here.
import { createRequire } from 'node:module'
import path from 'node:path'

// The packages are installed elsewhere: see install.sh.
const require = createRequire(path.join(process.env.HASHNEWS_PDS ?? '.', 'package.json'))
const [role, port, folder, plcPort] = process.argv.slice(2)

if (role === 'plc') {
  const plc = require('@did-plc/server')
  const server = plc.PlcServer.create({ db: plc.Database.mock(), port: Number(port) })
  await server.start()
} else {
  const { PDS } = await import(require.resolve('@atproto/pds'))
  const server = await PDS.fromEnv({
    devMode: true,
    port: Number(port),
    hostname: 'localhost',
    dataDirectory: folder,
    blobstoreDiskLocation: path.join(folder, 'blobs'),
    didPlcUrl: `http://localhost:${plcPort}`,
    recoveryDidKey: undefined,
    adminPassword: 'admin-pass',
    jwtSecret: 'jwt-secret-of-the-tests',
    plcRotationKeyK256PrivateKeyHex: '1'.repeat(64),
    serviceHandleDomains: ['.test'],
    bskyAppViewUrl: 'https://appview.invalid',
    bskyAppViewDid: 'did:example:invalid',
    modServiceUrl: 'https://moderator.invalid',
    modServiceDid: 'did:example:invalid',
    inviteRequired: false,
    rateLimitsEnabled: false,
    disableSsrfProtection: true,
  })
  await server.start()
}
console.log('ready')
