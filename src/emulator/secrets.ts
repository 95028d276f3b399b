/** What the made-up settings and resources carry and no file, log line or error may. */
export const SECRETS = {
  /** `customModels[].apiKey`; the key is changed now and then. */
  apiKeys: ['sk-demo-9fK2vQ7xLm4TbW8cRz5H', 'sk-demo-Yp3NsD6wJe1GuA0hXk7C'],
  header: 'hdr-7Qm2Zx9Lk4Vn8Tb3',
  headerBearer: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkZW1vIn0.c2lnbmF0dXJlLW9mLXRoZS1kZW1v',
  extraArg: 'arg-5Hd8Jw2Pz6Rc1Yt',
  deepExtraArg: 'deep-arg-3Xk9Sf7Bn4Mv',
  cloudCredentialExport: 'cloud-4Tg6Wq8Ze1Uj5Ap0',
  cloudAuthRefresh: 'refresh-2Lr7Nc9Vd3Qs',
  modelUrlPassword: 'url-pass-8Kf3Hy5Tm',
  modelUrlQuery: 'url-query-6Bz1Wp4Xe',
  marketplaceToken: 'ghp_demo7Jx2Qm9Ls4Vt8Rn3Kc5Zd',
  commandToken: 'sk-demo-command-1Ue8Gi6Oa3Yb',
  /** Under names that no specification tells. */
  unknownSigningSecrets: ['whsec-0Vb4Nm7Xq2Lz', 'whsec-9Ty6Re3Wp8Kd'],
  unknownPlain: 'plain-name-5Sj1Dk8Fh',
  unknownInList: 'in-a-list-7Mc2Vx4Nb',
  unknownNumber: '4938172640',
  relayToken: 'relay-3Pq7Lt9Xm2Wz',
  relayPassword: 'relay-pass-6Dn4Hs8Kv',
  stepErrorToken: 'sk-demo-step-8Rw5Ec2Ti7Yn',
  tagToken: 'tag-2Gh9Jk4Lz7Xp',
  messageToken: 'sk-demo-message-4Fv8Bn3Mq6Kw',
} as const

/** Every secret that the stand-in platform serves, wherever it is. */
export const DEMO_SECRETS: readonly string[] = Object.values(SECRETS).flat()
