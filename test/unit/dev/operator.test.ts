import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeCloudConfig } from '../../../dev/cluster/operator';
import { devPathsIn } from '../../../dev/cluster/paths';

it('adds where the cloud is to what the CloudProvider says of it', () => {
  const root = mkdtempSync(join(tmpdir(), 'operator-config-'));
  const paths = devPathsIn(root);
  writeCloudConfig({
    paths,
    cloud: { endpoint: 'http://c', tokenFile: '/t' },
    provider: { driftInterval: '1h', local: { engine: 'Passthrough' } },
  });
  expect(JSON.parse(readFileSync(paths.operatorConfig, 'utf8'))).toEqual({
    driftInterval: '1h',
    local: { engine: 'Passthrough', endpoint: 'http://c', tokenFile: '/t' },
  });
  rmSync(root, { recursive: true });
});
