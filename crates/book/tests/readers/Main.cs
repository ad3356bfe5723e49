// Answers the questions on standard input with the C# reader.
using System;
using System.Collections.Generic;
using Sob;

static class Answers
{
    static void Main()
    {
        OpeningBook book = null;
        for (string line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            string verb = line.Substring(0, line.IndexOf(' ')), rest = line.Substring(verb.Length + 1), answer;
            try
            {
                if (verb == "open")
                {
                    if (book != null) book.Dispose();
                    book = null;
                    book = new OpeningBook(rest);
                    answer = "ok " + book.EntryCount;
                }
                else if (book == null) answer = "closed";
                else
                {
                    var texts = new List<string>();
                    if (verb == "key")
                        foreach (ushort word in book.ProbeWords(Convert.ToUInt64(rest, 16))) texts.Add(word.ToString("x4"));
                    else if (verb == "fen")
                    {
                        foreach (BookMove move in book.Probe(rest)) texts.Add(move + ":" + move.Rank);
                        texts.Sort(string.CompareOrdinal);
                    }
                    else texts.Add(Fen.Key(rest).ToString("x16"));
                    answer = texts.Count == 0 ? "-" : string.Join(" ", texts.ToArray());
                }
            }
            catch (SobFormatException error) { answer = "error " + error.Kind; }
            Console.WriteLine(answer);
        }
    }
}
