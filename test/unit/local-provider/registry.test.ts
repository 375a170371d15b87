import { loadProvider } from '../../../providers/registry';

describe('the registry of providers', () => {
  it('loads the local cloud', async () => {
    const provider = await loadProvider('local');
    expect(provider).toMatchObject({ kind: 'local', providerIDScheme: 'local' });
  });

  it.each(['nope', 'constructor', '__proto__', ''])('refuses the kind "%s" and names the known ones', async (kind) => {
    await expect(loadProvider(kind)).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('known are aws, azure, local') as string,
    });
  });
});
