import { redacted, redactedText } from '../../../operator/cli/cluster/redact';

const SECRET = 'hunter2hunter2';

test.each([
  ['a bearer token', `Authorization: Bearer ${SECRET}`],
  ['a JWT', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl'],
  ['a password in a URL', `https://me:${SECRET}@example.com/`],
  ['an access key', 'AKIAIOSFODNN7EXAMPLE'],
  ['a flag', `--admin-password=${SECRET}`],
  ['JSON in a log', `{"clientSecret":"${SECRET}","x":1}`],
  ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${SECRET}\n-----END RSA PRIVATE KEY-----`],
])('%s is taken out of a text', (_, text) => {
  expect(redactedText(text)).toContain('[redacted]');
  expect(redactedText(text)).not.toMatch(/hunter2|AKIAIOSFODNN7|c2lnbmF0dXJl/);
});

test.each(['no CloudProvider claims the class "x"', 'tokens: 3 of 5', 'the Secret local-cloud is not there', 'a3f0: 80/TCP'])(
  '"%s" stays',
  (text) => {
    expect(redactedText(text)).toBe(text);
  },
);

test('an object keeps what helps, and loses what is nobody’s business', () => {
  const object = {
    metadata: {
      name: 'x',
      managedFields: [{ manager: 'kubectl' }],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":"${SECRET}"}`, 'cloud-operator.dev/epoch': '3' },
    },
    spec: {
      local: { tokenSecretRef: { name: 'local-cloud', key: 'token' }, tokenFile: '/run/token' },
      custom: { kind: 'mine', parameters: { zone: SECRET } },
      containers: [
        {
          env: [
            { name: 'A', value: SECRET },
            { name: 'B', valueFrom: { secretKeyRef: { name: 'y', key: 'z' } } },
          ],
        },
      ],
      clientSecret: SECRET,
      count: 3,
      absent: null,
    },
  };
  expect(redacted(object)).toEqual({
    metadata: { name: 'x', annotations: { 'cloud-operator.dev/epoch': '3' } },
    spec: {
      local: { tokenSecretRef: { name: 'local-cloud', key: 'token' }, tokenFile: '/run/token' },
      custom: { kind: 'mine', parameters: { zone: '[redacted]' } },
      containers: [
        {
          env: [
            { name: 'A', value: '[redacted]' },
            { name: 'B', valueFrom: { secretKeyRef: { name: 'y', key: 'z' } } },
          ],
        },
      ],
      clientSecret: '[redacted]',
      count: 3,
      absent: null,
    },
  });
});
