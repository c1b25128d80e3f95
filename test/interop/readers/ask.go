// Ask by doc/readers/go: ask URL KEY KIND [COMMAND...] < elements, one a line, as
// ask.py does.
package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"

	bloomreader "bloomext/reader"
	"github.com/redis/go-redis/v9"
)

func part(value string) (part bloomreader.Part, err error) {
	var i int64
	var bytes []byte
	switch value[0] {
	case 't':
		part = bloomreader.Text(value[1:])
	case 'n':
		i, err = strconv.ParseInt(value[1:], 10, 64)
		part = bloomreader.Number(i)
	case 'u':
		bytes, err = hex.DecodeString(strings.ReplaceAll(value[1:], "-", ""))
		part = bloomreader.UUID(*(*[16]byte)(bytes))
	default:
		bytes, err = hex.DecodeString(value[1:])
		part = bloomreader.Bytea(bytes)
	}
	return
}

func parse(kind, line string) (bytes []byte, err error) {
	var i int64
	switch kind {
	case "integer":
		i, err = strconv.ParseInt(line, 10, 32)
		bytes = bloomreader.Integer(int32(i))
	case "bigint":
		i, err = strconv.ParseInt(line, 10, 64)
		bytes = bloomreader.Bigint(i)
	case "uuid", "bytea":
		bytes, err = hex.DecodeString(strings.ReplaceAll(line, "-", ""))
	case "row":
		var parts []bloomreader.Part
		for _, value := range strings.Split(line, "\t") {
			part, err := part(value)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		bytes = bloomreader.Row(parts...)
	default:
		bytes = []byte(line)
	}
	return
}

// A client that does something before the next command.
type client struct {
	redis.UniversalClient
	meanwhile func()
}

func (c *client) Do(ctx context.Context, question ...any) *redis.Cmd {
	if meanwhile := c.meanwhile; meanwhile != nil {
		c.meanwhile = nil
		meanwhile()
	}
	return c.UniversalClient.Do(ctx, question...)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	options, err := redis.ParseURL(os.Args[1])
	check(err)
	client := &client{redis.NewClient(options), nil}
	input, err := io.ReadAll(os.Stdin)
	check(err)
	var elements [][]byte
	for _, line := range strings.Split(strings.TrimSuffix(string(input), "\n"), "\n") {
		bytes, err := parse(os.Args[3], line)
		check(err)
		elements = append(elements, bytes)
	}
	filter := bloomreader.Filter{Client: client, Key: os.Args[2]}
	if len(os.Args) > 4 {
		_, err = filter.Contains(ctx, elements)
		check(err)
		var command []any
		for _, word := range os.Args[4:] {
			command = append(command, word)
		}
		client.meanwhile = func() {
			check(client.Do(ctx, command...).Err())
			_, err := filter.Contains(ctx, elements)
			check(err)
		}
	}
	answers, err := filter.Contains(ctx, elements)
	check(err)
	for _, answer := range answers {
		fmt.Println(map[bool]int{false: 0, true: 1}[answer])
	}
}
