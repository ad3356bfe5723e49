// Reads the opening book in hashes.sob and moves.sob (format version 1).
//
// Made by tabiya @VERSION@ with its table of random numbers; do not edit. C# 6, nothing but System,
// System.IO and System.Collections.Generic. For each thread its own OpeningBook.
//
//     using (var book = new @NAMESPACE@.OpeningBook("folder"))
//         foreach (var move in book.Probe(fen)) Console.WriteLine(move + " " + move.Rank);
using System;
using System.Collections.Generic;
using System.IO;

namespace @NAMESPACE@
{
    public struct BookMove
    {
        public readonly int From, To, Rank;        // squares 0..63, a1 = 0; rank 0..15, 15 = best
        public readonly char Promotion;            // '\0' or 'q' 'r' 'b' 'n'
        public BookMove(int from, int to, int rank, char promo) { From = from; To = to; Rank = rank; Promotion = promo; }
        static string Sq(int s) { return "" + (char)('a' + (s & 7)) + (char)('1' + (s >> 3)); }
        public override string ToString() { return Sq(From) + Sq(To) + (Promotion == '\0' ? "" : Promotion.ToString()); }
    }

    /// What is wrong with a book.
    public enum SobError { NotABook, TextModeDamage, Corrupt, Unsupported, Truncated, TrailingData, PairMismatch, NeedsTable, BadBlock }

    public class SobFormatException : Exception
    {
        public readonly SobError Kind;
        public SobFormatException(SobError kind, string m) : base(kind + ": " + m) { Kind = kind; }
    }

    public sealed class OpeningBook : IDisposable
    {
        readonly SobFile hashes, moves;
        int cachedBlock = -1; ulong[] cachedKeys; ushort[] cachedWords;

        public OpeningBook(string directory) : this(Open(directory, "hashes.sob"), Open(directory, "moves.sob")) { }

        /// The streams must be able to seek; they are closed with the book.
        public OpeningBook(Stream hashesStream, Stream movesStream)
        {
            try
            {
                hashes = new SobFile(hashesStream);
                moves = new SobFile(movesStream);
                bool pair = hashes.IsKeys && !moves.IsKeys && Same(hashes.BookId, moves.BookId);
                if (!pair || hashes.Entries != moves.Entries || hashes.Keys != moves.Keys || hashes.Blocks != moves.Blocks)
                    throw new SobFormatException(SobError.PairMismatch, "hashes.sob and moves.sob do not belong together");
                for (int i = 0; i < hashes.Blocks; i++)
                    if (hashes.Count[i] != moves.Count[i]) throw new SobFormatException(SobError.PairMismatch, "block counts differ");
                moves.ReadTable();
                hashes.ReadTable();
            }
            catch { hashesStream.Dispose(); movesStream.Dispose(); throw; }
        }
        static Stream Open(string directory, string name)
        {
            string path = Path.Combine(directory, name);
            if (!File.Exists(path)) throw new SobFormatException(SobError.NotABook, path + " is missing");
            return new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.Read);
        }
        public void Dispose() { hashes.Dispose(); moves.Dispose(); }
        public ulong EntryCount { get { return hashes.Entries; } }
        static bool Same(byte[] a, byte[] b) { for (int i = 0; i < a.Length; i++) if (a[i] != b[i]) return false; return true; }

        /// Raw words for a key, best first; empty when the position is not in the book.
        public ushort[] ProbeWords(ulong key)
        {
            int b = hashes.FindBlock(key);
            if (b < 0) return new ushort[0];
            if (b != cachedBlock)
            {
                cachedBlock = -1;
                cachedKeys = hashes.ReadKeys(b); cachedWords = null;
                cachedBlock = b;
            }
            int lo = 0, hi = cachedKeys.Length;
            while (lo < hi) { int m = (lo + hi) >> 1; if (cachedKeys[m] < key) lo = m + 1; else hi = m; }
            if (lo == cachedKeys.Length || cachedKeys[lo] != key) return new ushort[0];
            if (cachedWords == null) cachedWords = moves.ReadWords(b);
            int e = lo; while (e < cachedKeys.Length && cachedKeys[e] == key) e++;
            var r = new ushort[e - lo]; Array.Copy(cachedWords, lo, r, 0, e - lo); return r;
        }

        /// Moves for a FEN. The FEN is needed to tell promotions from other moves.
        public IList<BookMove> Probe(string fen)
        {
            if (!Same(hashes.TableSha256, Fen.TableSha256)) throw new SobFormatException(SobError.NeedsTable, "the book is made with other random numbers");
            if (hashes.EpRule == 2) throw new SobFormatException(SobError.Unsupported, "its rule for en passant needs a board that knows the moves");
            var r = new List<BookMove>();
            var board = Fen.Board(fen); bool white = fen.Split(' ')[1] == "w";
            foreach (ushort w in ProbeWords(Fen.Key(fen, hashes.EpRule == 1)))
            {
                int from = (w & 63) ^ 56, to = ((w >> 6) & 63) ^ 56, rank = w >> 12; char promo = '\0';
                char p = board[from];
                if (p == '.' || char.IsUpper(p) != white) continue; // key collision: drop
                if (p == (white ? 'P' : 'p') && (from >> 3) == (white ? 6 : 1))
                {
                    int row = (w >> 9) & 7;                  // a8 = 0 row field of the target
                    if (row == (white ? 0 : 7)) promo = 'q';
                    else if (moves.Underpromotions && row >= 2 && row <= 4) promo = "nbr"[row - 2];
                    else continue;
                    to = (to & 7) | (white ? 56 : 0);
                }
                r.Add(new BookMove(from, to, rank, promo));
            }
            return r;
        }

        /// Weighted choice, weight = rank (0 is never chosen). Null when out of book.
        public BookMove? Pick(string fen, Random rng)
        {
            var l = Probe(fen); int sum = 0; foreach (var m in l) sum += m.Rank;
            if (sum == 0) return null;
            int x = rng.Next(sum);
            foreach (var m in l) { if (x < m.Rank) return m; x -= m.Rank; }
            return null;
        }
    }

    sealed class SobFile : IDisposable
    {
        readonly Stream fs; public readonly bool IsKeys, Underpromotions; public readonly int EpRule;
        public readonly ulong Entries, Keys; public readonly int Blocks; public readonly byte[] BookId = new byte[16], TableSha256 = new byte[32];
        readonly int codec, propByte, source; readonly long dataOff, tabOff, tabLen; readonly uint tabCrc;
        readonly ulong[] firstKey; readonly long[] off; readonly uint[] crc; public readonly int[] Count; readonly ulong lastKey;
        Huff moveCodes, rankCodes;

        static void Check(bool good, SobError kind, string what) { if (!good) throw new SobFormatException(kind, what); }

        public SobFile(Stream stream)
        {
            fs = stream;
            Check(fs.Length >= 256, SobError.NotABook, "shorter than a header");
            byte[] h = Read(0, 256);
            Check(h[0] == 'S' && h[1] == 'O' && h[2] == 'B' && (h[3] == 'H' || h[3] == 'M'), SobError.NotABook, "not a .sob file");
            IsKeys = h[3] == 'H';
            Check(h[4] == 13 && h[5] == 10 && h[6] == 26 && h[7] == 10, SobError.TextModeDamage, "file was changed by a text-mode copy");
            Check(Crc(h, 0, 252) == U32(h, 252), SobError.Corrupt, "header checksum");
            Check(U16(h, 8) == 1 && U64(h, 16) <= 1, SobError.Unsupported, "needs a newer reader");
            Underpromotions = U64(h, 16) == 1;
            Entries = U64(h, 32); Keys = U64(h, 40); codec = h[56]; propByte = h[58];
            Check(h[57] == 0 && (codec == 0 || codec == 1 || codec == 3), SobError.Unsupported, "codec not built into this reader");
            Array.Copy(h, 64, BookId, 0, 16); Array.Copy(h, 80, TableSha256, 0, 32);
            source = h[112]; EpRule = h[113];
            Check(source <= 2 && EpRule <= 2 && h[114] <= 1 && h[115] == 64, SobError.Unsupported, "rules of its keys");
            uint target = U32(h, 52), blocks = U32(h, 48);
            Check(U32(h, 12) == 256 && target >= 256 && target <= 32768 && blocks <= int.MaxValue - 1, SobError.Corrupt, "header");
            Check(codec != 1 || propByte < 225, SobError.Corrupt, "LZMA properties");
            Blocks = (int)blocks;
            ulong length = (ulong)fs.Length, stated = U64(h, 184);
            Check(length >= stated, SobError.Truncated, "file is cut short");
            Check(length <= stated, SobError.TrailingData, "something follows the file");
            for (int i = 0; i < 4; i++)      // sections lie in the file, aligned, and apart
            {
                ulong o = U64(h, 120 + 16 * i), n = U64(h, 128 + 16 * i);
                if (n == 0) continue;
                Check(o % 64 == 0 && o >= 256 && n <= stated && o <= stated - n, SobError.Corrupt, "layout");
                for (int j = 0; j < i; j++)
                {
                    ulong p = U64(h, 120 + 16 * j), m = U64(h, 128 + 16 * j);
                    Check(m == 0 || o >= p + m || p >= o + n, SobError.Corrupt, "layout");
                }
            }
            tabOff = (long)U64(h, 136); tabLen = (long)U64(h, 144); dataOff = (long)U64(h, 152); tabCrc = U32(h, 196);
            long dataLen = (long)U64(h, 160), ixOff = (long)U64(h, 168), ixLen = (long)U64(h, 176);
            int es = IsKeys ? 24 : 16;
            Check(ixLen == (long)es * (Blocks + 1L) && ixLen <= int.MaxValue, SobError.Corrupt, "index length");
            byte[] ix = Read(ixOff, (int)ixLen);
            Check(Crc(ix, 0, ix.Length) == U32(h, 200), SobError.Corrupt, "index checksum");
            firstKey = new ulong[Blocks]; off = new long[Blocks + 1]; crc = new uint[Blocks]; Count = new int[Blocks]; ulong total = 0;
            for (int i = 0; i <= Blocks; i++)
            {
                int p = i * es; ulong k = 0; if (IsKeys) { k = U64(ix, p); p += 8; }
                off[i] = (long)U64(ix, p);
                Check(i == 0 ? off[i] == 0 : off[i] > off[i - 1], SobError.Corrupt, "index order");
                if (i == Blocks) { lastKey = k; break; }
                firstKey[i] = k; crc[i] = U32(ix, p + 8); Count[i] = U16(ix, p + 12); total += (ulong)Count[i];
                Check(Count[i] > 0 && (!IsKeys || i == 0 || k > firstKey[i - 1]), SobError.Corrupt, "index keys");
            }
            Check(off[Blocks] == dataLen && (!IsKeys || Blocks == 0 || lastKey >= firstKey[Blocks - 1]), SobError.Corrupt, "index");
            Check(total == Entries && Keys >= (ulong)Blocks && Keys <= total, SobError.Corrupt, "entry count");
        }
        public void ReadTable()
        {
            Check(tabLen <= 2 + 3 * 4096 + 16, SobError.Corrupt, "table length");
            byte[] t = Read(tabOff, (int)tabLen);
            Check(Crc(t, 0, t.Length) == tabCrc, SobError.Corrupt, "table checksum");
            if (IsKeys) { Check(source != 1 || t.Length == 781 * 8, SobError.Corrupt, "table length"); return; }
            if (codec != 3) return;
            int n = t.Length < 2 ? 0 : U16(t, 0);
            Check(t.Length == 18 + 3 * n, SobError.Corrupt, "table length");
            var s = new int[n]; var l = new byte[n];
            for (int i = 0; i < n; i++)
            {
                s[i] = U16(t, 2 + 3 * i); l[i] = t[4 + 3 * i];
                Check(s[i] <= 4095 && l[i] > 0 && (i == 0 || s[i] > s[i - 1]), SobError.Corrupt, "table");
            }
            moveCodes = new Huff(s, l);
            var rs = new List<int>(); var rl = new List<byte>();
            for (int r = 0; r < 16; r++) if (t[2 + 3 * n + r] != 0) { rs.Add(r); rl.Add(t[2 + 3 * n + r]); }
            rankCodes = new Huff(rs.ToArray(), rl.ToArray());
        }
        public void Dispose() { fs.Dispose(); }

        public int FindBlock(ulong key)
        {
            if (Blocks == 0 || key < firstKey[0] || key > lastKey) return -1;
            int lo = 0, hi = Blocks; while (hi - lo > 1) { int m = (lo + hi) >> 1; if (firstKey[m] <= key) lo = m; else hi = m; }
            return lo;
        }
        byte[] Payload(int b)
        {
            long n = off[b + 1] - off[b];
            Check(n <= 16L * Count[b] + 64, SobError.BadBlock, "block " + b + " is too long");
            byte[] p = Read(dataOff + off[b], (int)n);
            Check(Crc(p, 0, p.Length) == crc[b], SobError.BadBlock, "block " + b + " is damaged");
            return p;
        }
        public ulong[] ReadKeys(int b)
        {
            ulong[] r = DecodeKeys(b);
            ulong last = r[r.Length - 1];
            bool inside = b + 1 < Blocks ? last < firstKey[b + 1] : last == lastKey;
            Check(inside && r[0] == firstKey[b], SobError.BadBlock, "keys of block " + b);
            for (int i = 1; i < r.Length; i++) Check(r[i] >= r[i - 1], SobError.BadBlock, "keys of block " + b);
            return r;
        }
        ulong[] DecodeKeys(int b)
        {
            byte[] p = Payload(b); int n = Count[b]; var r = new ulong[n];
            if (codec == 3)
            {
                var br = new Bits(p); int k = (int)br.Get(8); ulong key = firstKey[b]; int i = 0;
                Check(k <= 63, SobError.BadBlock, "Rice parameter");
                for (int c = br.Unary(n) + 1; c > 0; c--) { if (i >= n) throw new SobFormatException(SobError.BadBlock, "block count"); r[i++] = key; }
                while (i < n)
                {
                    ulong q = (ulong)br.Unary(int.MaxValue); Check(q <= ulong.MaxValue >> k, SobError.BadBlock, "key overflow"); ulong d = (q << k) | br.Get(k);
                    ulong next = key + d + 1; Check(next > key, SobError.BadBlock, "key overflow"); key = next;
                    for (int c = br.Unary(n) + 1; c > 0; c--) { if (i >= n) throw new SobFormatException(SobError.BadBlock, "block count"); r[i++] = key; }
                }
                br.Finish();
                return r;
            }
            if (codec == 1) p = Lzma.Decode(p, n * 8, propByte);
            if (p.Length != n * 8) throw new SobFormatException(SobError.BadBlock, "block length");
            for (int i = 0; i < n; i++) { ulong v = 0; for (int j = 0; j < 8; j++) v = v << 8 | p[i * 8 + j]; r[i] = v; }
            return r;
        }
        public ushort[] ReadWords(int b)
        {
            byte[] p = Payload(b); int n = Count[b]; var r = new ushort[n];
            if (codec == 3) { var br = new Bits(p); for (int i = 0; i < n; i++) r[i] = (ushort)(moveCodes.Next(br) | (rankCodes.Next(br) << 12)); br.Finish(); return r; }
            if (codec == 1) p = Lzma.Decode(p, n * 2, propByte);
            if (p.Length != n * 2) throw new SobFormatException(SobError.BadBlock, "block length");
            for (int i = 0; i < n; i++) r[i] = (ushort)(p[2 * i] << 8 | p[2 * i + 1]);
            return r;
        }
        byte[] Read(long o, int len)
        {
            Check(o >= 0 && len >= 0 && o <= fs.Length - len, SobError.Truncated, "file is cut short");
            var b = new byte[len]; fs.Position = o; int got = 0;
            while (got < len) { int k = fs.Read(b, got, len - got); Check(k > 0, SobError.Truncated, "file is cut short"); got += k; }
            return b;
        }
        internal static int U16(byte[] b, int o) { return b[o] | b[o + 1] << 8; }
        internal static uint U32(byte[] b, int o) { return (uint)U16(b, o) | (uint)U16(b, o + 2) << 16; }
        internal static ulong U64(byte[] b, int o) { return U32(b, o) | (ulong)U32(b, o + 4) << 32; }
        static readonly uint[] T = MakeT();
        static uint[] MakeT() { var t = new uint[256]; for (uint i = 0; i < 256; i++) { uint c = i; for (int j = 0; j < 8; j++) c = (c & 1) != 0 ? c >> 1 ^ 0x82F63B78u : c >> 1; t[i] = c; } return t; }
        static uint Crc(byte[] b, int o, int n) { uint c = 0xFFFFFFFF; for (int i = 0; i < n; i++) c = T[(c ^ b[o + i]) & 255] ^ c >> 8; return ~c; }
    }

    sealed class Bits
    {
        readonly byte[] b; int p;
        public Bits(byte[] b) { this.b = b; }
        public int Bit() { if (p >> 3 >= b.Length) throw new SobFormatException(SobError.BadBlock, "bit stream ends early"); int r = b[p >> 3] >> (7 - (p & 7)) & 1; p++; return r; }
        public void Finish() { if (b.Length * 8L - p >= 8) throw new SobFormatException(SobError.BadBlock, "bits follow"); while (p < b.Length * 8) if (Bit() != 0) throw new SobFormatException(SobError.BadBlock, "bits follow"); }
        public ulong Get(int n) { ulong r = 0; while (n-- > 0) r = r << 1 | (uint)Bit(); return r; }
        public int Unary(int max) { int q = 0; while (Bit() != 0) if (++q > max) throw new SobFormatException(SobError.BadBlock, "unary run too long"); return q; }
    }

    sealed class Huff
    {
        readonly int[] sorted; readonly int[] cnt = new int[33];
        public Huff(int[] s, byte[] l)
        {
            ulong space = 0;
            foreach (byte x in l)
            {
                if (x > 32) throw new SobFormatException(SobError.Corrupt, "code length");
                space += 1UL << (32 - x);
            }
            bool lone = l.Length == 1 && l[0] == 1;
            if (l.Length > 0 && !lone && space != 1UL << 32) throw new SobFormatException(SobError.Corrupt, "code lengths");
            var ix = new int[s.Length]; for (int i = 0; i < ix.Length; i++) { ix[i] = i; cnt[l[i]]++; }
            Array.Sort(ix, delegate (int a, int c) { return l[a] != l[c] ? l[a].CompareTo(l[c]) : s[a].CompareTo(s[c]); });
            sorted = new int[s.Length]; for (int i = 0; i < ix.Length; i++) sorted[i] = s[ix[i]];
        }
        public int Next(Bits br)
        {
            long code = 0, first = 0; int index = 0;
            for (int len = 1; len <= 32; len++)
            {
                code |= (uint)br.Bit(); int c = cnt[len];
                if (code - c < first) return sorted[index + (int)(code - first)];
                index += c; first += c; first <<= 1; code <<= 1;
            }
            throw new SobFormatException(SobError.BadBlock, "bad code");
        }
    }

    static class Lzma   // raw LZMA1 stream, known size, no end marker
    {
        sealed class D
        {
            public byte[] s; public int p; public uint range, code; public byte[] o;
            public int Bit(ushort[] a, int i)
            {
                if (range < 1u << 24) { range <<= 8; code = code << 8 | Next(); }
                uint v = a[i], bound = (range >> 11) * v;
                if (code < bound) { range = bound; a[i] = (ushort)(v + (2048 - v >> 5)); return 0; }
                range -= bound; code -= bound; a[i] = (ushort)(v - (v >> 5)); return 1;
            }
            public uint Next() { if (p >= s.Length) throw new SobFormatException(SobError.BadBlock, "LZMA data ends early"); return s[p++]; }
            public uint Direct(int k) { uint r = 0; while (k-- > 0) { if (range < 1u << 24) { range <<= 8; code = code << 8 | Next(); } range >>= 1; uint t = 0u - ((code -= range) >> 31); code += range & t; r = r << 1 | (1 + t); } return r; }
            public int Tree(ushort[] a, int b, int bits) { int m = 1; for (int i = 0; i < bits; i++) m = m << 1 | Bit(a, b + m); return m - (1 << bits); }
            public int RTree(ushort[] a, int b, int bits) { int m = 1, r = 0; for (int i = 0; i < bits; i++) { int x = Bit(a, b + m); m = m << 1 | x; r |= x << i; } return r; }
            public int Len(ushort[] a, int ps)   // a: 0 choice, 1 choice2, 2.. low(16x8) mid(16x8) high(256)
            {
                if (Bit(a, 0) == 0) return Tree(a, 2 + ps * 8, 3);
                if (Bit(a, 1) == 0) return 8 + Tree(a, 2 + 128 + ps * 8, 3);
                return 16 + Tree(a, 2 + 256, 8);
            }
        }
        static ushort[] P(int n) { var a = new ushort[n]; for (int i = 0; i < n; i++) a[i] = 1024; return a; }
        public static byte[] Decode(byte[] src, int outLen, int prop)
        {
            if (prop >= 225) throw new SobFormatException(SobError.BadBlock, "LZMA properties");
            int lc = prop % 9, lp = prop / 9 % 5, pb = prop / 45;
            var d = new D { s = src, range = 0xFFFFFFFF, o = new byte[outLen] };
            if (d.Next() != 0) throw new SobFormatException(SobError.BadBlock, "LZMA start byte");
            for (int i = 0; i < 4; i++) d.code = d.code << 8 | d.Next();
            ushort[] lit = P(0x300 << lc + lp), isMatch = P(192), isRep = P(12), g0 = P(12), g1 = P(12), g2 = P(12), r0l = P(192), slot = P(256), spec = P(128), align = P(16), len = P(514), rlen = P(514);
            int state = 0; uint rep0 = 0, rep1 = 0, rep2 = 0, rep3 = 0; int pos = 0; byte[] o = d.o;
            while (pos < outLen)
            {
                int ps = pos & (1 << pb) - 1; int l;
                if (d.Bit(isMatch, state << 4 | ps) == 0)
                {
                    int prev = pos > 0 ? o[pos - 1] : 0;
                    int b = 0x300 * (((pos & (1 << lp) - 1) << lc) + (prev >> 8 - lc)); int m = 1;
                    if (state >= 7)
                    {
                        if (rep0 >= pos) throw new SobFormatException(SobError.BadBlock, "LZMA distance");
                        int mb = o[pos - (int)rep0 - 1];
                        do { int x = mb >> 7 & 1; mb <<= 1; int bit = d.Bit(lit, b + (1 + x << 8) + m); m = m << 1 | bit; if (x != bit) break; } while (m < 0x100);
                    }
                    while (m < 0x100) m = m << 1 | d.Bit(lit, b + m);
                    o[pos++] = (byte)m; state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6; continue;
                }
                if (d.Bit(isRep, state) != 0)
                {
                    if (d.Bit(g0, state) == 0)
                    {
                        if (d.Bit(r0l, state << 4 | ps) == 0)
                        {
                            if (rep0 >= pos) throw new SobFormatException(SobError.BadBlock, "LZMA distance");
                            state = state < 7 ? 9 : 11; o[pos] = o[pos - (int)rep0 - 1]; pos++; continue;
                        }
                    }
                    else
                    {
                        uint dist;
                        if (d.Bit(g1, state) == 0) dist = rep1;
                        else { if (d.Bit(g2, state) == 0) dist = rep2; else { dist = rep3; rep3 = rep2; } rep2 = rep1; }
                        rep1 = rep0; rep0 = dist;
                    }
                    l = d.Len(rlen, ps); state = state < 7 ? 8 : 11;
                }
                else
                {
                    rep3 = rep2; rep2 = rep1; rep1 = rep0;
                    l = d.Len(len, ps); state = state < 7 ? 7 : 10;
                    int s = d.Tree(slot, (l < 4 ? l : 3) * 64, 6);
                    if (s < 4) rep0 = (uint)s;
                    else
                    {
                        int nb = (s >> 1) - 1; rep0 = (uint)(2 | s & 1) << nb;
                        if (s < 14) rep0 += (uint)d.RTree(spec, (int)rep0 - s, nb);
                        else { rep0 += d.Direct(nb - 4) << 4; rep0 += (uint)d.RTree(align, 0, 4); }
                    }
                }
                l += 2;
                if (rep0 >= pos || pos + l > outLen) throw new SobFormatException(SobError.BadBlock, "LZMA distance");
                for (int from = pos - (int)rep0 - 1; l > 0; l--) o[pos++] = o[from++];
            }
            return o;
        }
    }

    public static class Fen
    {
        /// 64 characters, a1 first, '.' for an empty square.
        public static char[] Board(string fen)
        {
            var b = new char[64]; for (int i = 0; i < 64; i++) b[i] = '.'; int r = 7, f = 0;
            foreach (char c in fen.Split(' ')[0]) { if (c == '/') { r--; f = 0; } else if (c >= '1' && c <= '8') f += c - '0'; else b[r * 8 + f++] = c; }
            return b;
        }
        /// The en passant file counts if a pawn stands ready, or always.
        public static ulong Key(string fen, bool always = false)
        {
            string[] w = fen.Split(' '); char[] b = Board(fen); ulong k = 0; bool white = w[1] == "w";
            for (int s = 0; s < 64; s++) { int i = "pPnNbBrRqQkK".IndexOf(b[s]); if (i >= 0) k ^= Z[64 * i + s]; }
            for (int i = 0; i < 4; i++) if (w[2].IndexOf("KQkq"[i]) >= 0) k ^= Z[768 + i];
            if (w[3] != "-")
            {
                int f = w[3][0] - 'a', row = white ? 4 : 3; char me = white ? 'P' : 'p';
                if (always || (f > 0 && b[row * 8 + f - 1] == me) || (f < 7 && b[row * 8 + f + 1] == me)) k ^= Z[772 + f];
            }
            return white ? k ^ Z[780] : k;
        }
        internal static readonly byte[] TableSha256 = { @SHA256@ };
        static readonly ulong[] Z = {
@TABLE@
        };
    }
}
